package dynamodb_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/tables"
	"toggleadmin/test/simulation/dynamodb"
)

// TestStream compares the records of a stream. The engine also has one of a write that changes nothing.
func TestStream(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	if err := tables.EnableStreams(t.Context(), p.server.Client, template(t).Tables); err != nil {
		t.Fatal(err)
	}
	for _, call := range lines(`
PutItem Item: {id: {S: a}, n: {N: '1'}}
PutItem Item: {id: {S: a}, n: {N: '1'}}
UpdateItem Key: {id: {S: a}}, UpdateExpression: 'ADD n :one'
UpdateItem Key: {id: {S: b}}
UpdateItem Key: {id: {S: b}}, UpdateExpression: 'SET n = :n', ConditionExpression: 'n = :n'
DeleteItem Key: {id: {S: a}}
DeleteItem Key: {id: {S: a}}`) {
		operation, parameters, _ := strings.Cut(call, " ")
		p.call(call, operation, request(t, "{TableName: FeatureTypes, %s}", parameters))
	}
	var body []byte
	sent := m{"TableName": "FeatureTypes", "ShardIteratorType": "TRIM_HORIZON"}
	for _, step := range lines("ListStreams StreamArn\nDescribeStream ShardId\nGetShardIterator ShardIterator\nGetRecords Records") {
		operation, member, _ := strings.Cut(step, " ")
		_, body = p.post("DynamoDBStreams_20120810."+operation, marshal(t, sent))
		if found := regexp.MustCompile(`"` + member + `":"(.*?)"`).FindSubmatch(body); found != nil {
			sent[member] = string(found[1])
		}
	}
	batch, n := p.fake.Records("FeatureTypes", 0, 100)
	var want, got m
	var event events.DynamoDBEvent
	err := errors.Join(json.Unmarshal(body, &want), json.Unmarshal(batch, &got), json.Unmarshal(batch, &event))
	if err != nil || n != 4 {
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

// play carries out calls on a fake, each some time after the one before, and checks that their responses contain texts.
func play(t *testing.T, lag func(version int64) time.Duration, calls string) {
	t.Helper()
	now := time.Unix(1_800_000_000, 0)
	db := dynamodb.New(template(t).Tables, func() time.Time { return now })
	db.Lag = func(_, _, _ string, version int64) time.Duration { return lag(version) }
	for _, call := range lines(calls) {
		part := strings.Split(call, " | ")
		wait, err := time.ParseDuration(part[0])
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(wait)
		_, response := db.Do(part[1], marshal(t, request(t, "{%s}", part[2])))
		if !strings.Contains(string(response), part[3]) {
			t.Errorf("%s: %s", call, response)
		}
	}
}

// TestLag writes an item and then another state of it, which an index or the table shows together: a change never
// overtakes an earlier one.
func TestLag(t *testing.T) {
	t.Parallel()
	play(t, func(version int64) time.Duration { return time.Duration(4-version) * time.Second }, strings.ReplaceAll(`
0s | PutItem | Item: {name: {S: a}, staleness: {S: p1}, createdAt: {S: '1'}} | {}
0s | PutItem | Item: {name: {S: a}, staleness: {S: p1}, createdAt: {S: '2'}} | {}
0s | PutItem | Item: {name: {S: b}, staleness: {S: p1}, createdAt: {S: '3'}} | {}
0s | Query | INDEX | "Count":0
0s | Scan | ConsistentRead: true | "Count":2
0s | Scan | Limit: 5 | "Count":0
0s | GetItem | Key: {name: {S: a}}, ConsistentRead: true | "createdAt":{"S":"2"}
0s | GetItem | Key: {name: {S: a}} | {}
0s | BatchGetItem | RequestItems: {Features: {ConsistentRead: true, Keys: [{name: {S: a}}]}} | "Features":[{
0s | BatchGetItem | RequestItems: {Features: {Keys: [{name: {S: a}}]}} | "Features":[]
1s | Query | INDEX | "createdAt":{"S":"3"}
1s | Query | INDEX | "Count":1
0s | GetItem | Key: {name: {S: a}} | {}
1s | Query | INDEX | "createdAt":{"S":"2"}
0s | GetItem | Key: {name: {S: a}} | "createdAt":{"S":"2"}
0s | DeleteItem | Key: {name: {S: a}} | {}
0s | Query | INDEX | "Count":1`, "INDEX", "IndexName: staleness, KeyConditionExpression: 'staleness = :p'"))
}

func TestToken(t *testing.T) {
	t.Parallel()
	play(t, func(int64) time.Duration { return 0 }, strings.ReplaceAll(`
0s | TransactWriteItems | ADD | {}
9m59.999s | TransactWriteItems | ADD | {}
0s | GetItem | Key: {name: {S: a}} | "n":{"N":"1"}
1ms | TransactWriteItems | ADD | {}
0s | GetItem | Key: {name: {S: a}} | "n":{"N":"2"}`, "ADD", "ClientRequestToken: t, "+
		"TransactItems: [{Update: {TableName: Features, Key: {name: {S: a}}, UpdateExpression: 'ADD n :d', "+
		"ExpressionAttributeValues: {':d': {N: '1'}}}}]"))
}
