package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/test/simulation/dynamodb"
)

// fake is a database whose clock the test sets.
type fake struct {
	testing.TB
	*dynamodb.DB
	now time.Time
}

func newFakeAt(tb testing.TB) *fake {
	tb.Helper()
	f := &fake{TB: tb, now: time.Unix(1_800_000_000, 0)}
	f.DB = dynamodb.New(template(tb).Tables, func() time.Time { return f.now })
	return f
}

// do carries out a call and returns the body of the response.
func (f *fake) do(operation, request string) string {
	f.Helper()
	_, response := f.Do(operation, marshal(f, with(f, request)))
	return string(response)
}

// want checks that the response of a call contains a text.
func (f *fake) want(text, operation, request string) {
	f.Helper()
	if got := f.do(operation, request); !strings.Contains(got, text) {
		f.Errorf("%s %s: %s, want %s", operation, request, got, text)
	}
}

// TestSDK checks that the SDK understands responses and errors.
func TestSDK(t *testing.T) {
	t.Parallel()
	db := newFake(t)
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
			status, response := db.Do(operation, body)
			return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(response)), Request: r}, err
		})},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	want := dynamo.Item{"name": dynamo.S("a"), "b": dynamo.B([]byte{1}), "m": dynamo.M(dynamo.Item{"l": dynamo.Strings([]string{"x"}), "ok": dynamo.Bool(true)})}
	for _, failed := range []bool{false, true} {
		put := dynamo.NewItem("Features", "name", want)
		put.Put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
		failures, err := dynamo.Transact(t.Context(), client, []types.TransactWriteItem{put})
		if err != nil || (failures != nil) != failed || failed && len(failures[0].Item) != len(want) {
			t.Errorf("failures %v, error %v", failures, err)
		}
	}
	got, err := dynamo.Get(t.Context(), client, "Features", dynamo.Item{"name": dynamo.S("a")})
	if diff := cmp.Diff(marshal(t, want), marshal(t, got)); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if diff := cmp.Diff(marshal(t, []dynamo.Item{want}), marshal(t, db.Items("Features"))); diff != "" {
		t.Error(diff)
	}
	if err := dynamo.PutNew(t.Context(), client, "Features", "name", want); !dynamo.FailedCondition(err) {
		t.Error(err)
	}
	_, err = client.GetItem(t.Context(), &sdk.GetItemInput{TableName: aws.String("Other"), Key: want})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		t.Error(err)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestStream compares the records of a stream. The engine also has one of a write that changes nothing.
func TestStream(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	if err := tables.EnableStreams(t.Context(), p.server.Client, template(t).Tables); err != nil {
		t.Fatal(err)
	}
	for _, call := range lines(`
PutItem {Item: {id: a, n: 1}
PutItem {Item: {id: a, n: 1}
UpdateItem {Key: {id: a}, UpdateExpression: 'ADD n :one'
UpdateItem {Key: {id: b}
UpdateItem {Key: {id: b}, UpdateExpression: 'SET n = :n', ConditionExpression: 'n = :n'
DeleteItem {Key: {id: a}
DeleteItem {Key: {id: a}`) {
		operation, request, _ := strings.Cut(call, " ")
		p.call(call, operation, with(t, request+", TableName: FeatureTypes}"))
	}
	stream := func(operation string, parameters m) (response m) {
		_, body := p.post("DynamoDBStreams_20120810."+operation, marshal(t, parameters))
		if err := json.Unmarshal(body, &response); err != nil {
			t.Fatal(err)
		}
		return response
	}
	first := func(list any) m { return list.([]any)[0].(m) } //nolint:errcheck // an error is a panic
	arn := first(stream("ListStreams", m{"TableName": "FeatureTypes"})["Streams"])["StreamArn"]
	shard := first(stream("DescribeStream", m{"StreamArn": arn})["StreamDescription"].(m)["Shards"])["ShardId"] //nolint:errcheck // an error is a panic
	iterator := stream("GetShardIterator", m{"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"})["ShardIterator"]
	want := stream("GetRecords", m{"ShardIterator": iterator})
	var got m
	if err := json.Unmarshal(marshal(t, events.DynamoDBEvent{Records: p.fake.Records("FeatureTypes", 0)}), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(changes(want), changes(got)); diff != "" {
		t.Errorf("(-server +fake)\n%s", diff)
	}
	if all := p.fake.Records("FeatureTypes", 1); len(all) != 3 || all[0].Change.SequenceNumber >= all[1].Change.SequenceNumber {
		t.Errorf("the records from the second on are %v", all)
	}
}

// changes returns what the records of a stream say about items.
func changes(records m) (all []string) {
	list, _ := records["Records"].([]any)
	for _, r := range list {
		record, _ := r.(m)
		change, _ := record["dynamodb"].(m)
		if !cmp.Equal(change["OldImage"], change["NewImage"]) {
			all = append(all, fmt.Sprint(record["eventName"], change["Keys"], change["OldImage"], change["NewImage"]))
		}
	}
	return all
}

func TestIndexLag(t *testing.T) {
	t.Parallel()
	f := newFakeAt(t)
	f.Lag = func(_, _, _ string, version int64) time.Duration { return time.Duration(4-version) * time.Second }
	const query = "{TableName: Features, IndexName: staleness, KeyConditionExpression: 'staleness = :p'}"
	f.do("PutItem", "Item: {name: a, staleness: p1, createdAt: '1'}") // visible after 3 s
	f.do("PutItem", "Item: {name: a, staleness: p1, createdAt: '2'}") // also, because a change never overtakes an earlier one
	f.do("PutItem", "Item: {name: b, staleness: p1, createdAt: '3'}") // visible after 1 s
	f.want(`"Count":0`, "Query", query)
	f.now = f.now.Add(time.Second)
	f.want(`[{"createdAt":{"S":"3"}`, "Query", query)
	f.now = f.now.Add(time.Second)
	f.want(`"Count":1`, "Query", query)
	f.now = f.now.Add(time.Second)
	f.want(`[{"createdAt":{"S":"2"}`, "Query", query)
	f.do("DeleteItem", "Key: {name: a}")
	f.want(`"Count":1`, "Query", query)
}

func TestToken(t *testing.T) {
	t.Parallel()
	f := newFakeAt(t)
	const add = "{ClientRequestToken: t, TransactItems: [{Update: {Key: {name: a}, UpdateExpression: 'ADD n :n', ExpressionAttributeValues: {':n': 1}}}]}"
	for _, wait := range []time.Duration{0, 10*time.Minute - 1, 1} {
		f.now = f.now.Add(wait)
		body := []byte(strings.Replace(string(marshal(t, parse(t, add))), "{", "{ ", 1))
		sent := string(body)
		if _, _ = f.Do("TransactWriteItems", body); string(body) != sent {
			t.Errorf("the request was changed to %s", body)
		}
	}
	f.want(`"n":{"N":"2"}`, "GetItem", "Key: {name: a}")
}

// TestRestoreAndExpire checks that indexes and Written follow a restore and the time to live.
func TestRestoreAndExpire(t *testing.T) {
	t.Parallel()
	f := newFakeAt(t)
	var changes []string
	f.Written = func(table string, old, next dynamo.Item) {
		changes = append(changes, table+" "+old.String("v")+">"+next.String("v"))
	}
	f.do("PutItem", "Item: {name: a, staleness: p1, createdAt: '1', v: x}")
	f.do("PutItem", "Item: {name: a, staleness: p1, createdAt: '1', v: x}")
	saved := f.Snapshot("Features")
	f.do("DeleteItem", "Key: {name: a}")
	f.Restore("Features", saved)
	f.want(`"Count":1`, "Scan", "{TableName: Features, IndexName: staleness}")
	f.do("PutItem", "{TableName: Traffic, Item: {period: a, pathDayShard: a, expiresAt: 1800000000, v: y}}")
	f.Expire("Traffic")
	f.want(`"Count":1`, "Scan", "TableName: Traffic")
	f.now = f.now.Add(time.Second)
	f.Expire("Traffic")
	f.want(`"Count":0`, "Scan", "TableName: Traffic")
	if diff := cmp.Diff([]string{"Features >x", "Features x>", "Traffic >y", "Traffic y>"}, changes); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkDo(b *testing.B) {
	db := newFake(b)
	update := marshal(b, m{"TransactItems": []any{m{"Update": with(b, `{Key: {name: a}, ConditionExpression: 'attribute_not_exists(c) OR #s = :s',
		UpdateExpression: 'SET #new = if_not_exists(n, :n) + :one, #s = :s, staleness = :s REMOVE nothing'}`)}}})
	get := marshal(b, parse(b, "{Key: {name: a}, ConsistentRead: true}"))
	query := marshal(b, with(b, "{TableName: Features, IndexName: staleness, KeyConditionExpression: 'staleness = :s', Limit: 80}"))
	for b.Loop() {
		db.Do("TransactWriteItems", update)
		db.Do("GetItem", get)
		db.Do("Query", query)
	}
}
