package eventsource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/local/checkpoint"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/eventsource"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

// TestEngine reads the real engine's stream.
func TestEngine(t *testing.T) {
	t.Parallel()
	endpoint := enginetest.Start(t).Endpoint()
	cfg := aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: dynamo.NewHTTPClient(endpoint),
	}
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &endpoint })
	table := must(client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Things"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}))(t).TableDescription
	put := func(id string, n int) {
		must(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Things"), Item: map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: id}, "n": &types.AttributeValueMemberN{Value: fmt.Sprint(n)},
		}}))(t)
	}
	s := newSetup(0)
	s.config.Streams = dynamodbstreams.NewFromConfig(cfg, func(o *dynamodbstreams.Options) { o.BaseEndpoint = &endpoint })
	s.config.StreamARN = *table.LatestStreamArn
	s.config.Checkpoint = checkpoint.File{Path: filepath.Join(t.TempDir(), "c")}
	got := make(chan string, 100)
	s.config.Call = func(_ context.Context, _ string, payload []byte) ([]byte, string, error) {
		var event events.DynamoDBEvent
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, "", err
		}
		for i := range event.Records {
			change := event.Records[i].Change
			n := ""
			if image := change.NewImage; image != nil {
				n = image["n"].Number()
			}
			got <- event.Records[i].EventName + " " + change.Keys["id"].String() + " " + n
		}
		return nil, "", nil
	}
	start := func() (m *eventsource.Mapping, stop func()) {
		m = eventsource.New(s.config)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { m.Run(ctx) })
		return m, func() { cancel(); running.Wait() }
	}
	expect := func(want ...string) {
		t.Helper()
		for _, w := range want {
			if g := <-got; g != w {
				t.Fatalf("got %q, want %q", g, w)
			}
		}
	}
	put("a", 1)
	put("a", 1) // changes nothing
	for n := range 11 {
		put("b", n)
	}
	m, stop := start()
	expect("INSERT a 1", "INSERT b 0", "MODIFY b 1", "MODIFY b 2", "MODIFY b 3", "MODIFY b 4", "MODIFY b 5", "MODIFY b 6", "MODIFY b 7",
		"MODIFY b 8", "MODIFY b 9", "MODIFY b 10")
	put("a", 2)
	m.Nudge()
	expect("MODIFY a 2")
	put("a", 3) // nobody nudges
	expect("MODIFY a 3")
	stop()
	must(client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String("Things"), Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "a"}},
	}))(t)
	_, stop = start()
	defer stop()
	expect("REMOVE a ")
	put("c", 1)
	expect("INSERT c 1")
	if len(got) != 0 {
		t.Errorf("%q too", <-got)
	}
}

func TestEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(0)
		image := map[string]streamtypes.AttributeValue{
			"s": &streamtypes.AttributeValueMemberS{Value: "text"}, "n": &streamtypes.AttributeValueMemberN{Value: "1.5"},
			"b": &streamtypes.AttributeValueMemberB{Value: []byte("bytes")}, "bool": &streamtypes.AttributeValueMemberBOOL{Value: true},
			"null": &streamtypes.AttributeValueMemberNULL{Value: true}, "ss": &streamtypes.AttributeValueMemberSS{Value: []string{"a", "b"}},
			"ns": &streamtypes.AttributeValueMemberNS{Value: []string{"1", "2"}},
			"bs": &streamtypes.AttributeValueMemberBS{Value: [][]byte{[]byte("x")}},
			"l":  &streamtypes.AttributeValueMemberL{Value: []streamtypes.AttributeValue{&streamtypes.AttributeValueMemberS{Value: "in"}}},
			"m": &streamtypes.AttributeValueMemberM{Value: map[string]streamtypes.AttributeValue{
				"k": &streamtypes.AttributeValueMemberN{Value: "2"},
			}},
		}
		s.stream.put("s", streamtypes.Record{
			EventName: streamtypes.OperationTypeModify, UserIdentity: &streamtypes.Identity{Type: aws.String("Service"), PrincipalId: aws.String("p")},
			Dynamodb: &streamtypes.StreamRecord{
				ApproximateCreationDateTime: aws.Time(time.Unix(1700000000, 0)), SequenceNumber: aws.String("7"), SizeBytes: aws.Int64(26),
				StreamViewType: streamtypes.StreamViewTypeNewAndOldImages,
				Keys:           map[string]streamtypes.AttributeValue{"s": image["s"]}, NewImage: image,
				OldImage: map[string]streamtypes.AttributeValue{"s": image["s"]},
			},
		})
		s.stream.insert("s", 8)
		s.run(t, time.Second)
		var got struct{ Records []map[string]any }
		if err := json.Unmarshal(s.payloads[0], &got); err != nil {
			t.Fatal(err)
		}
		first, second := fmt.Sprint(got.Records[0]["eventID"]), fmt.Sprint(got.Records[1]["eventID"])
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(first) || first == second {
			t.Errorf("event ids %q, %q", first, second)
		}
		delete(got.Records[0], "eventID")
		text := map[string]any{"S": "text"}
		want := map[string]any{
			"eventName": "MODIFY", "eventVersion": "1.1", "eventSource": "aws:dynamodb", "awsRegion": "eu-west-1", "eventSourceARN": "arn:aws",
			"userIdentity": map[string]any{"type": "Service", "principalId": "p"},
			"dynamodb": map[string]any{
				"ApproximateCreationDateTime": 1.7e9, "SequenceNumber": "100000000000000000007", "SizeBytes": 26.0,
				"StreamViewType": "NEW_AND_OLD_IMAGES", "Keys": map[string]any{"s": text}, "OldImage": map[string]any{"s": text},
				"NewImage": map[string]any{
					"s": text, "n": map[string]any{"N": "1.5"}, "b": map[string]any{"B": "Ynl0ZXM="}, "bool": map[string]any{"BOOL": true},
					"null": map[string]any{"NULL": true}, "ss": map[string]any{"SS": []any{"a", "b"}}, "ns": map[string]any{"NS": []any{"1", "2"}},
					"bs": map[string]any{"BS": []any{"eA=="}}, "l": map[string]any{"L": []any{map[string]any{"S": "in"}}},
					"m": map[string]any{"M": map[string]any{"k": map[string]any{"N": "2"}}},
				},
			},
		}
		if diff := cmp.Diff(want, got.Records[0]); diff != "" {
			t.Error(diff)
		}
	})
}
