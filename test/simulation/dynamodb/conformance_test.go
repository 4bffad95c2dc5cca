package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/database"
	"toggleadmin/test/simulation/dynamodb"
)

// m is a JSON object. attributes is one whose members are attribute values: strings, numbers (of type n or int), bytes, booleans, lists and
// maps.
type (
	m          map[string]any
	attributes map[string]any
	n          string
)

// MarshalJSON encodes the attributes as DynamoDB's JSON.
func (a attributes) MarshalJSON() ([]byte, error) {
	all := m{}
	for name, v := range a {
		all[name] = encoded(v)
	}
	return json.Marshal(all)
}

func encoded(v any) any {
	switch v := v.(type) {
	case string:
		return m{"S": v}
	case n:
		return m{"N": string(v)}
	case int:
		return m{"N": fmt.Sprint(v)}
	case []byte:
		return m{"B": v}
	case bool:
		return m{"BOOL": v}
	case []any:
		list := []any{}
		for _, element := range v {
			list = append(list, encoded(element))
		}
		return m{"L": list}
	case attributes:
		return m{"M": v}
	case nil:
		return m{"NULL": true}
	default:
		return v
	}
}

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
	template, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	return dynamodb.New(template.Tables, time.Now)
}

func marshal(tb testing.TB, v any) []byte {
	tb.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// deviations matches the calls to which a server does not respond as DynamoDB's documentation says, and the fake does.
var deviations = map[string]*regexp.Regexp{
	"dynoxide": regexp.MustCompile(`^(` + strings.Join([]string{
		`staleness = :p AND createdAt = :n.*`,      // compares with a key of another type
		`query: start elsewhere page 0`,            // accepts a start in another partition
		`page of 1 MB`,                             // has an item less
		`(transaction|item): (SET|REMOVE) #name.*`, // changes a key in a transaction
		`transaction: SET #(map = :map, #map.#one = :one|new = :s, #new = :s) .*`, `item: SET #(new = :s, #new = :s .*|map = :map, #map.#one = :one / missing)`, // accepts overlapping paths in a transaction
		`(transaction: )?REMOVE nothing.#one .*`, `item: REMOVE nothing.#one / missing`, `(transaction: |item: )?REMOVE .*#map.\S+ / missing`, // accepts paths in a missing map
		`update new all old`, // returns the key
		`two in one action`,  // accepts them
	}, "|") + `)$`),
	"DynamoDB Local": regexp.MustCompile(`^(` + strings.Join([]string{
		`sum (1\.0|00012|0\.10|-00\.5|1E2|1e\+2)`, `(item: )?set #new = :map, n = :six .*`, // does not trim zeros
		`.*SET #createdAt = :n .*`,     // accepts an index key of another type
		`update without an expression`, // accepts it
	}, "|") + `)$`),
}

// call sends a call to both and compares the responses. name is unique.
func (p *pair) call(name, operation string, parameters any) any {
	p.Helper()
	body := marshal(p, parameters)
	status, response := p.fake.Do(operation, body)
	got := normalize(p, operation, status, response)
	request, err := http.NewRequestWithContext(p.Context(), http.MethodPost, p.server.Endpoint, bytes.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	request.Header = http.Header{
		"X-Amz-Target": {"DynamoDB_20120810." + operation}, "Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Date": {"20260101T000000Z"},
		"Authorization": {"AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"},
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		p.Fatal(err)
	}
	defer answer.Body.Close()
	response, err = io.ReadAll(answer.Body)
	if err != nil {
		p.Fatal(err)
	}
	server := "dynoxide"
	if enginetest.External() != "" {
		server = "DynamoDB Local"
	}
	diff := cmp.Diff(normalize(p, operation, answer.StatusCode, response), got)
	if deviates := deviations[server].MatchString(name); (diff != "") != deviates {
		if len(body) > 1000 {
			body = body[:1000]
		}
		p.Errorf("%s: %s %s: (-%s +fake), known deviation %t\n%.3000s", name, operation, body, server, deviates, diff)
	}
	return got
}

// normalize returns a response without messages, with the items of a Scan and of a BatchGetItem in one order. A transaction that is canceled
// because an action is invalid is the same as an invalid transaction: servers differ in which mistakes they find before they begin.
func normalize(tb testing.TB, operation string, status int, response []byte) any {
	tb.Helper()
	var body any
	if err := json.Unmarshal(response, &body); err != nil {
		tb.Fatalf("%s: %v: %s", operation, err, response)
	}
	return m{"status": status, "body": normalized(operation, body)}
}

func normalized(operation string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if kind, ok := member.(string); ok && name == "__type" {
				_, v[name], _ = strings.Cut(kind, "#")
			} else {
				v[name] = normalized(operation, member)
			}
		}
		if codes := fmt.Sprint(v["CancellationReasons"]); strings.Contains(codes, "ValidationError") && !strings.Contains(codes, "Failed") {
			delete(v, "CancellationReasons")
			v["__type"] = "ValidationException"
		}
		maps.DeleteFunc(v, func(name string, _ any) bool { // DynamoDB Local returns capacity that nobody asked for
			return strings.EqualFold(name, "message") || name == "ConsumedCapacity"
		})
	case []any:
		for i := range v {
			v[i] = normalized(operation, v[i])
		}
		if operation == "Scan" || operation == "BatchGetItem" {
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	return v
}
