package tables_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/enginetest"
)

func features() samtemplate.Table {
	return samtemplate.Table{
		Name: "Features", Hash: samtemplate.Attribute{Name: "name", Type: "S"}, StreamViewType: "NEW_AND_OLD_IMAGES",
		TTLAttribute: "expires",
		Indexes: []samtemplate.Index{{
			Name: "staleness", Projection: "KEYS_ONLY",
			Hash: samtemplate.Attribute{Name: "staleness", Type: "S"}, Range: samtemplate.Attribute{Name: "createdAt",
				Type: "S"},
		}},
	}
}

func newClient(t *testing.T) *dynamodb.Client {
	t.Helper()
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(enginetest.Endpoint(t)),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

func TestMakeAndEnableStreams(t *testing.T) {
	t.Parallel()
	client, all := newClient(t), []samtemplate.Table{features()}
	read := func() *types.TableDescription {
		out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("Features")})
		assert.OK(t, err)
		return out.Table
	}
	for range 2 { // both can be repeated
		assert.OK(t, tables.Make(t.Context(), client, all))
	}
	if s := read().StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		t.Error("Make has enabled the stream")
	}
	ttl, err := client.DescribeTimeToLive(t.Context(),
		&dynamodb.DescribeTimeToLiveInput{TableName: aws.String("Features")})
	assert.OK(t, err)
	if got := aws.ToString(ttl.TimeToLiveDescription.AttributeName); got != "expires" {
		t.Errorf("time to live on %q", got)
	}
	for range 2 {
		assert.OK(t, tables.EnableStreams(t.Context(), client, all))
	}
	if s := read().StreamSpecification; s == nil || s.StreamViewType != types.StreamViewTypeNewAndOldImages {
		t.Errorf("stream %+v", s)
	}
}

func TestOtherTablesAreRefused(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	assert.OK(t, tables.Make(t.Context(), client, []samtemplate.Table{features()}))
	for _, tt := range []struct {
		name   string
		change func(*samtemplate.Table)
		want   string
	}{
		{"type of the key", func(s *samtemplate.Table) { s.Hash.Type = "N" }, `without "table (name N)"`},
		{"range key", func(s *samtemplate.Table) { s.Range = samtemplate.Attribute{Name: "v", Type: "N"} },
			`without "table (name S, v N)"`},
		{"key of an index", func(s *samtemplate.Table) { s.Indexes[0].Range.Name = "v" },
			`without "staleness (staleness S, v S) KEYS_ONLY"`},
		{"no index", func(s *samtemplate.Table) { s.Indexes[0].Name = "other" }, `without "other (`},
		{"projection", func(s *samtemplate.Table) { s.Indexes[0].Projection = "ALL" },
			`without "staleness (staleness S, createdAt S) ALL"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			changed := features()
			tt.change(&changed)
			err := tables.Make(t.Context(), client, []samtemplate.Table{changed})
			if !errors.Is(err, tables.ErrDiffers) || !strings.Contains(err.Error(), tt.want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
