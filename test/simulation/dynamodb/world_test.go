package dynamodb_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

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
	description := stream("DescribeStream", m{"StreamArn": arn})["StreamDescription"].(m) //nolint:errcheck // panics
	shard := first(description["Shards"])["ShardId"]
	iterator := stream("GetShardIterator",
		m{"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"})["ShardIterator"]
	want := stream("GetRecords", m{"ShardIterator": iterator})
	var got m
	batch, n := p.fake.Records("FeatureTypes", 0, 100)
	var event events.DynamoDBEvent
	if err := errors.Join(json.Unmarshal(batch, &got), json.Unmarshal(batch, &event)); err != nil || n != 4 {
		t.Fatal(n, err)
	}
	if diff := cmp.Diff(changes(want), changes(got)); diff != "" {
		t.Errorf("(-server +fake)\n%s", diff)
	}
	if next, n := p.fake.Records("FeatureTypes", 1, 2); n != 2 ||
		!strings.Contains(string(next), event.Records[1].Change.SequenceNumber) {
		t.Errorf("%d records from the second on: %s", n, next)
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
	// also, because a change never overtakes an earlier one
	f.do("PutItem", "Item: {name: a, staleness: p1, createdAt: '2'}")
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

func TestTableLag(t *testing.T) {
	t.Parallel()
	f := newFakeAt(t)
	f.Lag = func(_, _, _ string, version int64) time.Duration { return time.Duration(3-version) * time.Second }
	f.do("PutItem", "Item: {name: a, n: 1}") // visible after 2 s
	f.do("PutItem", "Item: {name: a, n: 2}") // visible after 1 s
	f.want(`"N":"2"`, "GetItem", "{TableName: Features, Key: {name: a}, ConsistentRead: true}")
	f.want(`"Count":1`, "Scan", "{TableName: Features, ConsistentRead: true}")
	f.want(`"Features":[{`, "BatchGetItem", "{RequestItems: {Features: {ConsistentRead: true, Keys: [{name: a}]}}}")
	f.want(`{}`, "GetItem", "Key: {name: a}")
	f.want(`"Count":0`, "Scan", "{TableName: Features}")
	f.want(`"Features":[]`, "BatchGetItem", "{RequestItems: {Features: {Keys: [{name: a}]}}}")
	f.now = f.now.Add(2 * time.Second)
	f.want(`"N":"2"`, "GetItem", "Key: {name: a}")
}

func TestToken(t *testing.T) {
	t.Parallel()
	f := newFakeAt(t)
	const add = "{ClientRequestToken: t, TransactItems: [{Update: {Key: {name: a}, UpdateExpression: 'ADD n :n', " +
		"ExpressionAttributeValues: {':n': 1}}}]}"
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
