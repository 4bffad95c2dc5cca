package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/test/database"
	"toggleadmin/test/enginetest"
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
	return &pair{t, dynamodb.New(template(t).Tables, time.Now), database.New(t)}
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
		`two in one action`, // accepts them
	}, "|") + `)$`),
	"DynamoDB Local": regexp.MustCompile(`^.*SET #createdAt = :n .*$`), // accepts an index key of another type
}

// call sends a call to both and compares the responses, and those for the other pages of a Query. name is unique if the
// call is one of the deviations.
func (p *pair) call(name, operation string, request m) m {
	p.Helper()
	body := marshal(p, request)
	got := response(p.fake.Do(operation, body))
	want := response(p.post("DynamoDB_20120810."+operation, body))
	server := "dynoxide"
	if enginetest.External() != "" {
		server = "DynamoDB Local"
	}
	options := cmp.Options{cmpopts.IgnoreMapEntries(func(member string, _ any) bool {
		return strings.EqualFold(member, "message") || member == "ConsumedCapacity" // which nobody asked for
	})}
	if operation == "Scan" || operation == "BatchGetItem" {
		options = append(options, cmpopts.SortSlices(func(a, b any) bool { return fmt.Sprint(a) < fmt.Sprint(b) }))
	}
	diff := cmp.Diff(want, got, options)
	if deviates := deviations[server].MatchString(name); (diff != "") != deviates {
		p.Errorf("%s: %s %.1000s: (-%s +fake), known deviation %t\n%.3000s", name, operation, body, server, deviates, diff)
	}
	if next := got["LastEvaluatedKey"]; operation == "Query" && next != nil && diff == "" {
		request["ExclusiveStartKey"] = next
		p.call(name, operation, request)
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

// response returns a response with its status. A transaction that is canceled because an action is invalid is the same
// as an invalid transaction: servers differ in which mistakes they find before they begin.
func response(status int, body []byte) m {
	var all m
	if err := json.Unmarshal(body, &all); err != nil {
		all = m{"error": string(body)}
	}
	_, all["__type"], _ = strings.Cut(fmt.Sprint(all["__type"]), "#")
	if bytes.Contains(body, []byte(`"ValidationError"`)) {
		all = m{"__type": "ValidationException"}
	}
	all["status"] = status
	return all
}

var repeated = regexp.MustCompile(`x\*\d+`)

// decode reads YAML, in which x*5 is xxxxx.
func decode[T any](tb testing.TB, text string) (v T) {
	tb.Helper()
	text = repeated.ReplaceAllStringFunc(text, func(text string) string {
		n, _ := strconv.Atoi(text[len("x*"):])
		return strings.Repeat("x", n)
	})
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// TestCalls compares the calls of testdata/calls.yaml.
func TestCalls(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/calls.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := newPair(t)
	for _, call := range decode[[]map[string]yaml.Node](t, string(content)) {
		for operation, request := range call {
			var parameters m
			if operation != "call" && request.Decode(&parameters) == nil {
				p.call(call["call"].Value, operation, parameters)
			}
		}
	}
}
