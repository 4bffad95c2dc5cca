package tables_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/samtemplate"
)

func newClient(t *testing.T) *dynamodb.Client {
	t.Helper()
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(enginetest.Endpoint(t)),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

func attribute(name, kind string) samtemplate.Attribute {
	return samtemplate.Attribute{Name: name, Type: kind}
}

func features() samtemplate.Table {
	return samtemplate.Table{
		Name: "stack-Features", Hash: attribute("name", "S"), StreamViewType: "NEW_AND_OLD_IMAGES", TTLAttribute: "expires",
		Indexes: []samtemplate.Index{{
			Name: "staleness", Hash: attribute("staleness", "S"), Range: attribute("createdAt", "S"), Projection: "KEYS_ONLY",
		}},
	}
}

func TestMakeIsAsTheTemplateSays(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	all := []samtemplate.Table{features(), {Name: "stack-Tokens", Hash: attribute("userId", "N"), Range: attribute("id", "N")}}
	for range 2 { // a second start finds everything
		if err := tables.Make(t.Context(), client, all); err != nil {
			t.Fatal(err)
		}
	}
	out, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("stack-Features")})
	if err != nil {
		t.Fatal(err)
	}
	if s := out.Table.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		t.Error("the stream is on before seeding")
	}
	if b := out.Table.BillingModeSummary; b == nil || b.BillingMode != types.BillingModePayPerRequest {
		t.Errorf("billing mode %+v", b)
	}
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("stack-Features")})
	if err != nil {
		t.Fatal(err)
	}
	if got := aws.ToString(ttl.TimeToLiveDescription.AttributeName); got != "expires" {
		t.Errorf("time to live on %q", got)
	}
	for range 2 {
		if err := tables.EnableStreams(t.Context(), client, all); err != nil {
			t.Fatal(err)
		}
	}
	out, err = client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("stack-Features")})
	if err != nil {
		t.Fatal(err)
	}
	if s := out.Table.StreamSpecification; s == nil || s.StreamViewType != types.StreamViewTypeNewAndOldImages {
		t.Errorf("stream %+v", s)
	}
}

func TestOtherKeysAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*samtemplate.Table)
		want   string
	}{
		{"hash key", func(s *samtemplate.Table) { s.Hash.Name = "id" }, "stack-Features has the key (name S) instead of (id S)"},
		{"type of the key", func(s *samtemplate.Table) { s.Hash.Type = "N" }, "(name S) instead of (name N)"},
		{"range key", func(s *samtemplate.Table) { s.Range = attribute("v", "N") }, "(name S) instead of (name S, v N)"},
		{"missing index", func(s *samtemplate.Table) { s.Indexes[0].Name = "email" }, "no index email"},
		{"index key", func(s *samtemplate.Table) { s.Indexes[0].Range = samtemplate.Attribute{} }, "the index staleness on (staleness S, createdAt S)"},
		{"projection", func(s *samtemplate.Table) { s.Indexes[0].Projection = "ALL" }, "KEYS_ONLY instead of (staleness S, createdAt S) ALL"},
		{"time to live", func(s *samtemplate.Table) { s.TTLAttribute = "gone" }, `time to live on "expires"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t)
			if err := tables.Make(t.Context(), client, []samtemplate.Table{features()}); err != nil {
				t.Fatal(err)
			}
			changed := features()
			tt.change(&changed)
			err := tables.Make(t.Context(), client, []samtemplate.Table{changed})
			if !errors.Is(err, tables.ErrDiffers) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
