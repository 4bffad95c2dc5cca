package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/simulation/dynamodb"
)

// m is a JSON object.
type m = map[string]any

// pair is the fake and a server, with the same tables.
type pair struct {
	*testing.T
	now    time.Time // of the fake
	fake   *dynamodb.DB
	server *database.Database
}

func newPair(t *testing.T) *pair {
	t.Helper()
	loaded, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
	p := &pair{T: t, now: time.Unix(1_800_000_000, 0), server: database.New(t)}
	p.fake = dynamodb.New(loaded.Tables, func() time.Time { return p.now })
	assert.OK(t, tables.Make(t.Context(), p.server.Client, loaded.Tables)) // post does not create tables
	assert.OK(t, tables.EnableStreams(t.Context(), p.server.Client, loaded.Tables))
	return p
}

// deviations matches the calls to which the engine, or an external server, does not respond as DynamoDB's documentation
// says, and the fake does.
var deviations = map[bool]*regexp.Regexp{
	false: regexp.MustCompile(`^(` + strings.Join([]string{
		`start in another partition`,               // accepts it
		`(transaction|item): (SET|REMOVE) #name.*`, // changes a key in a transaction
		`(transaction: )?REMOVE nothing.#one .*`,   // accepts paths in a missing map
		`item: REMOVE nothing.#one / missing`, `(transaction: |item: )?REMOVE .*#map.\S+ / missing`,
		`two in one action`, // accepts them
		`pages of 1 MB`,     // has an item less
	}, "|") + `)$`),
	true: regexp.MustCompile(`^.*SET #createdAt = :n .*$`), // DynamoDB Local accepts an index key of another type
}

// call sends a call to both and compares the responses, and those for the other pages of a Query. name is unique if the
// call is one of the deviations.
func (p *pair) call(name, operation string, request m) {
	body := p.marshal(request)
	got := p.response(p.fake.Do(operation, body))
	want := p.response(p.post("DynamoDB_20120810."+operation, body))
	options := cmp.Options{cmpopts.IgnoreMapEntries(func(member string, _ any) bool {
		return strings.EqualFold(member, "message") || member == "ConsumedCapacity" // which nobody asked for
	})}
	if operation == "Scan" || operation == "BatchGetItem" {
		options = append(options, cmpopts.SortSlices(func(a, b any) bool { return fmt.Sprint(a) < fmt.Sprint(b) }))
	}
	diff := cmp.Diff(want, got, options)
	if deviates := deviations[enginetest.External() != ""].MatchString(name); (diff != "") != deviates {
		p.Errorf("%s: %s %.1000s: (-server +fake), known deviation %t\n%.3000s", name, operation, body, deviates, diff)
	}
	if next := got["LastEvaluatedKey"]; operation == "Query" && next != nil && diff == "" {
		request["ExclusiveStartKey"] = next
		p.call(name, operation, request)
	}
}

// post sends a call to the server.
func (p *pair) post(target string, body []byte) (status int, response []byte) {
	request, err := http.NewRequestWithContext(p.Context(), http.MethodPost, p.server.Endpoint, bytes.NewReader(body))
	assert.OK(p, err)
	request.Header = http.Header{
		"X-Amz-Target": {target}, "Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Date": {"20260101T000000Z"},
		"Authorization": {"AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host," +
			" Signature=0"},
	}
	answer, err := http.DefaultClient.Do(request)
	assert.OK(p, err)
	defer answer.Body.Close()
	response, err = io.ReadAll(answer.Body)
	assert.OK(p, err)
	return answer.StatusCode, response
}

func (p *pair) marshal(v any) []byte {
	body, err := json.Marshal(v)
	assert.OK(p, err)
	return body
}

// response returns a response with its status. A transaction that is canceled because an action is invalid is the same
// as an invalid transaction: servers differ in which mistakes they find before they begin.
func (p *pair) response(status int, body []byte) (all m) {
	assert.OK(p, json.Unmarshal(body, &all))
	_, all["__type"], _ = strings.Cut(fmt.Sprint(all["__type"]), "#")
	if bytes.Contains(body, []byte(`"ValidationError"`)) {
		all = m{"__type": "ValidationException"}
	}
	all["status"] = status
	return all
}

// defined are the names and values that play defines for the expressions that use them.
const defined = `
ExpressionAttributeNames: {'#name': name, '#s': s, '#map': map, '#one': one, '#new': new, '#createdAt': createdAt}
ExpressionAttributeValues: {':s': {S: bcd}, ':c': {S: cde}, ':b': {S: b}, ':n': {N: '5'}, ':six': {N: '6'}, ':set': {NS: ['6', '7']},
  ':texts': {SS: [c, d]},
  ':ten': {N: '10'}, ':minus': {N: '-1'}, ':bytes': {B: AcgB}, ':yes': {BOOL: true}, ':no': {BOOL: false},
  ':empty': {S: ''}, ':list': {L: [{S: x}, {N: '1'}]}, ':none': {L: []}, ':x': {S: x}, ':one': {N: '1'},
  ':map': {M: {deep: {M: {s: {S: x}}}, one: {N: '1'}}}, ':p': {S: p1}, ':c07': {S: c07}, ':c13': {S: c13},
  ':c1': {S: c1}}`

// define adds those names and values that a request uses, or that the requests in it use.
func (p *pair) define(known map[string]m, v any) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			p.define(known, element)
		}
	case m:
		for _, member := range v {
			p.define(known, member)
		}
		text := p.marshal(v)
		for member, all := range known {
			used := maps.Clone(all)
			maps.DeleteFunc(used, func(ref string, _ any) bool { return !regexp.MustCompile(ref + `\b`).Match(text) })
			if len(used) > 0 && v["TableName"] != nil && v[member] == nil {
				v[member] = used
			}
		}
	}
}

// play carries out the calls of a file in the folder testdata: a template of a list in YAML. A call with a response,
// such as one after a time, is not sent to the server: the fake's response contains the text.
func (p *pair) play(file string) {
	random := rand.New(rand.NewPCG(1, 2))
	functions := template.FuncMap{
		"lines":  func(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") },
		"random": random.IntN, "permutation": random.Perm,
	}
	var text bytes.Buffer
	parsed, err := template.New(file).Funcs(functions).ParseFiles("testdata/" + file)
	assert.OK(p, err)
	assert.OK(p, parsed.Execute(&text, nil))
	var known map[string]m
	var calls []struct {
		Call, Response string
		After          time.Duration
		Sent           map[string]m `yaml:",inline"`
	}
	assert.OK(p, yaml.Unmarshal([]byte(defined), &known), yaml.Unmarshal(text.Bytes(), &calls))
	for _, call := range calls {
		p.now = p.now.Add(call.After)
		for operation, request := range call.Sent {
			p.define(known, request)
			if call.Response == "" {
				p.call(call.Call, operation, request)
			} else if _, got := p.fake.Do(operation, p.marshal(request)); !strings.Contains(string(got), call.Response) {
				p.Errorf("%s %s: %s", operation, request, got)
			}
		}
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"calls.yaml", "conditions.yaml", "updates.yaml", "queries.yaml", "transactions.yaml", "tokens.yaml",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			newPair(t).play(file)
		})
	}
}

// TestLag writes an item and then another state of it, which an index or the table shows together: a change never
// overtakes an earlier one.
func TestLag(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.fake.Lag = func(_, _, _ string, version int64) time.Duration { return time.Duration(4-version) * time.Second }
	p.play("lag.yaml")
}

// TestStream compares the records of a stream. The engine also has one of a write that changes nothing.
func TestStream(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.play("stream.yaml")
	var body []byte
	sent := m{"TableName": "FeatureTypes", "ShardIteratorType": "TRIM_HORIZON"}
	for _, step := range [][2]string{{"ListStreams", "StreamArn"}, {"DescribeStream", "ShardId"},
		{"GetShardIterator", "ShardIterator"}, {"GetRecords", "Records"}} {
		_, body = p.post("DynamoDBStreams_20120810."+step[0], p.marshal(sent))
		if found := regexp.MustCompile(`"` + step[1] + `":"(.*?)"`).FindSubmatch(body); found != nil {
			sent[step[1]] = string(found[1])
		}
	}
	var want, got, next struct{ Records []record }
	batch, n := p.fake.Records("FeatureTypes", 0, 100)
	part, _ := p.fake.Records("FeatureTypes", 1, 2)
	assert.OK(t, json.Unmarshal(body, &want), json.Unmarshal(batch, &got), json.Unmarshal(part, &next))
	assert.Equal(t, len(got.Records), n)
	assert.Equal(t, got.Records[1:3], next.Records)
	want.Records = slices.DeleteFunc(want.Records, func(r record) bool {
		return cmp.Equal(r.Change.OldImage, r.Change.NewImage)
	})
	assert.Equal(t, want, got, cmpopts.IgnoreFields(record{}, "Change.SequenceNumber"))
}

// record is a record of a stream.
type record struct {
	EventName string
	Change    struct {
		Keys, OldImage, NewImage m
		SequenceNumber           string
	} `json:"dynamodb"`
}
