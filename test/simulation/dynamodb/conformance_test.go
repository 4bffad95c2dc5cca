package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/test/database"
	"toggleadmin/test/simulation/dynamodb"
)

// m is a JSON object.
type m = map[string]any

// pair is the fake and a server, with the same tables.
type pair struct {
	*testing.T
	fake   *dynamodb.DB
	server *database.Database
}

func newPair(t *testing.T) *pair {
	t.Helper()
	return &pair{t, newFake(t), database.New(t)}
}

func newFake(tb testing.TB) *dynamodb.DB {
	tb.Helper()
	return dynamodb.New(template(tb).Tables, time.Now)
}

func template(tb testing.TB) *samtemplate.Template {
	tb.Helper()
	loaded, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	return loaded
}

// deviations matches the calls to which a server does not respond as DynamoDB's documentation says, and the fake does.
var deviations = map[string]*regexp.Regexp{
	"dynoxide": regexp.MustCompile(`^(` + strings.Join([]string{
		`start in another partition`,               // accepts it
		`page of 1 MB`,                             // has an item less
		`(transaction|item): (SET|REMOVE) #name.*`, // changes a key in a transaction
		`(transaction: )?REMOVE nothing.#one .*`,   // accepts paths in a missing map
		`item: REMOVE nothing.#one / missing`, `(transaction: |item: )?REMOVE .*#map.\S+ / missing`,
		`update new all old`, // returns the key
		`two in one action`,  // accepts them
	}, "|") + `)$`),
	"DynamoDB Local": regexp.MustCompile(`^(` + strings.Join([]string{
		`.*SET #createdAt = :n .*`,     // accepts an index key of another type
		`update without an expression`, // accepts it
	}, "|") + `)$`),
}

// call sends a call to both and compares the responses. name is unique if the call is one of the deviations.
func (p *pair) call(name, operation string, parameters any) m {
	p.Helper()
	body := marshal(p, parameters)
	status, response := p.fake.Do(operation, body)
	got := normalize(p, operation, status, response)
	wantStatus, want := p.post("DynamoDB_20120810."+operation, body)
	server := "dynoxide"
	if enginetest.External() != "" {
		server = "DynamoDB Local"
	}
	diff := cmp.Diff(normalize(p, operation, wantStatus, want), got)
	if deviates := deviations[server].MatchString(name); (diff != "") != deviates {
		p.Errorf("%s: %s %.1000s: (-%s +fake), known deviation %t\n%.3000s", name, operation, body, server, deviates, diff)
	}
	return got
}

// post sends a call to the server.
func (p *pair) post(target string, body []byte) (status int, response []byte) {
	p.Helper()
	request, err := http.NewRequestWithContext(p.Context(), http.MethodPost, p.server.Endpoint, bytes.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	request.Header = http.Header{
		"X-Amz-Target": {target}, "Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Date": {"20260101T000000Z"},
		"Authorization": {"AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host," +
			" Signature=0"},
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		p.Fatal(err)
	}
	defer answer.Body.Close()
	if response, err = io.ReadAll(answer.Body); err != nil {
		p.Fatal(err)
	}
	return answer.StatusCode, response
}

func marshal(tb testing.TB, v any) []byte {
	tb.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// normalize returns a response with its status and without messages, with the items of a Scan and of a BatchGetItem in
// one order. A transaction that is canceled because an action is invalid is the same as an invalid transaction: servers
// differ in which mistakes they find before they begin.
func normalize(tb testing.TB, operation string, status int, response []byte) m {
	tb.Helper()
	var body m
	if err := json.Unmarshal(response, &body); err != nil {
		tb.Fatalf("%s: %v: %s", operation, err, response)
	}
	if kind, ok := body["__type"].(string); ok {
		_, body["__type"], _ = strings.Cut(kind, "#")
	}
	if codes := fmt.Sprint(body["CancellationReasons"]); strings.Contains(codes, "ValidationError") {
		delete(body, "CancellationReasons")
		body["__type"] = "ValidationException"
	}
	body["status"] = status
	normalized(operation, body)
	return body
}

func normalized(operation string, v any) {
	switch v := v.(type) {
	case m:
		maps.DeleteFunc(v, func(name string, _ any) bool { // DynamoDB Local returns capacity that nobody asked for
			return strings.EqualFold(name, "message") || name == "ConsumedCapacity"
		})
		for _, member := range v {
			normalized(operation, member)
		}
	case []any:
		for _, element := range v {
			normalized(operation, element)
		}
		if operation == "Scan" || operation == "BatchGetItem" {
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
}

// parse reads a request, as testdata/calls.yaml describes it.
func parse(tb testing.TB, text string) m {
	tb.Helper()
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		tb.Fatal(err)
	}
	request, ok := plain(node.Content[0]).(m)
	if !ok {
		tb.Fatal("no request")
	}
	return request
}

func plain(node *yaml.Node) any {
	switch node.Kind {
	case yaml.AliasNode:
		return plain(node.Alias)
	case yaml.MappingNode:
		all := m{}
		for i := 0; i < len(node.Content); i += 2 {
			switch name, v := node.Content[i].Value, node.Content[i+1]; name {
			case "Key", "Item", "ExclusiveStartKey", "ExpressionAttributeValues":
				all[name] = attributes(v)["M"]
			case "Keys":
				list := attributes(v)["L"].([]any) //nolint:errcheck // an error is a panic
				for i, key := range list {
					list[i] = key.(m)["M"] //nolint:errcheck // an error is a panic
				}
				all[name] = list
			case "<<":
				maps.Copy(all, plain(v).(m)) //nolint:errcheck // an error is a panic
			default:
				all[name] = plain(v)
			}
		}
		if all["TableName"] == nil && (all["Key"] != nil || all["Item"] != nil) {
			all["TableName"] = "Features"
		}
		return all
	case yaml.SequenceNode:
		all := []any{}
		for _, element := range node.Content {
			all = append(all, plain(element))
		}
		return all
	default:
		var v any
		_ = node.Decode(&v)
		return v
	}
}

// attributes returns an attribute value.
func attributes(node *yaml.Node) m {
	switch node.Tag {
	case "!!map":
		all := m{}
		for i := 0; i < len(node.Content); i += 2 {
			all[node.Content[i].Value] = attributes(node.Content[i+1])
		}
		return m{"M": all}
	case "!!seq":
		all := []any{}
		for _, element := range node.Content {
			all = append(all, attributes(element))
		}
		return m{"L": all}
	case "!!int":
		return m{"N": node.Value}
	case "!!bool":
		return m{"BOOL": node.Value == "true"}
	case "!!binary":
		return m{"B": node.Value}
	case "!x":
		n, _ := strconv.Atoi(node.Value)
		return m{"S": strings.Repeat("x", n)}
	case "!json":
		return m{}
	default:
		return m{"S": node.Value}
	}
}

// TestCalls compares the calls of testdata/calls.yaml, with all pages of a Query.
func TestCalls(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/calls.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var calls yaml.Node
	if err := yaml.Unmarshal(content, &calls); err != nil {
		t.Fatal(err)
	}
	p := newPair(t)
	for i := 0; i < len(calls.Content[0].Content); i += 2 {
		for operation, parameters := range plain(calls.Content[0].Content[i+1]).(m) { //nolint:errcheck // an error is a panic
			p.pages(calls.Content[0].Content[i].Value, operation, parameters.(m)) //nolint:errcheck // an error is a panic
		}
	}
}

// pages compares a call and, if it is a Query, the calls for its other pages.
func (p *pair) pages(name, operation string, request m) {
	p.Helper()
	for range 30 {
		got := p.call(name, operation, request)
		if got["LastEvaluatedKey"] == nil || operation != "Query" {
			return
		}
		request["ExclusiveStartKey"], name = got["LastEvaluatedKey"], name+", next page"
	}
	p.Errorf("%s: there is no last page", name)
}
