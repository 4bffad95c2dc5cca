package gateway_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

// eventOf returns the function's event for a request.
func eventOf(t *testing.T, method, target, body string, headers ...string) (event events.APIGatewayProxyRequest) {
	t.Helper()
	newService(captures(t, &event, ok), nil).send(t, method, target, body, headers...)
	return event
}

func TestProxyEvent(t *testing.T) {
	t.Parallel()
	got := eventOf(t, "POST", "/open/a%20b%2Fc?q=1&q=2", `{"x":"é\n"}`, "X-Twice: one", "x-twice: two",
		"User-Agent: probe/1")
	single := map[string]string{
		"Host": "example.com", "User-Agent": "probe/1", "X-Twice": "two", "X-Forwarded-For": "192.0.2.1",
		"X-Forwarded-Port":  "80",
		"X-Forwarded-Proto": "http", "X-Amzn-Trace-Id": "Root=1-6a5145a8-000040008000000000000001",
	}
	multi := map[string][]string{}
	for name, value := range single {
		multi[name] = []string{value}
	}
	multi["X-Twice"] = []string{"one", "two"}
	want := events.APIGatewayProxyRequest{
		Resource: "/open/{id}", Path: "/open/a%20b%2Fc", HTTPMethod: "POST", Headers: single, MultiValueHeaders: multi,
		QueryStringParameters:           map[string]string{"q": "2"},
		MultiValueQueryStringParameters: map[string][]string{"q": {"1", "2"}},
		PathParameters:                  map[string]string{"id": "a%20b%2Fc"}, Body: `{"x":"é\n"}`,
		RequestContext: events.APIGatewayProxyRequestContext{
			AccountID: "123456789012", APIID: "a1b2c3d4e5", Stage: "prod", ResourceID: got.RequestContext.ResourceID,
			ResourcePath: "/open/{id}", HTTPMethod: "POST", Path: "/open/a%20b%2Fc", Protocol: "HTTP/1.1",
			DomainName: "example.com", DomainPrefix: "example",
			RequestID: "00000000-0000-4000-8000-000000000002", ExtendedRequestID: "AEAAgAAAAAAAAAE=",
			RequestTime: "10/Jul/2026:19:19:04 +0000", RequestTimeEpoch: 1783711144836,
			Identity: events.APIGatewayRequestIdentity{SourceIP: "192.0.2.1", UserAgent: "probe/1"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.RequestContext.ResourceID) != 6 {
		t.Errorf("resource id %q, event (-want +got):\n%s", got.RequestContext.ResourceID, diff)
	}
}

func TestEmptyPartsAreNull(t *testing.T) {
	t.Parallel()
	var event map[string]any
	newService(captures(t, &event, ok), nil).send(t, "GET", "/open?", "")
	for _, name := range []string{"queryStringParameters", "multiValueQueryStringParameters", "pathParameters",
		"stageVariables"} {
		if value, there := event[name]; !there || value != nil {
			t.Errorf("%s is %v, want null", name, value)
		}
	}
}

func TestPathIsRaw(t *testing.T) {
	t.Parallel()
	for target, id := range map[string]string{
		"/open/%2F": "%2F", "/open/%c3%A9": "%c3%A9", "/open/%41%FF": "%41%FF", "/open/a+b;c": "a+b;c", "/open/..": "..",
		"/open/7/":                     "7",
		"http://api.example/open/7%2f": "7%2f",
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			e, path := eventOf(t, "GET", target, ""), strings.TrimPrefix(target, "http://api.example")
			equal(t, "parameter", e.PathParameters["id"], id)
			equal(t, "path", e.Path, path)
			equal(t, "path in the context", e.RequestContext.Path, path)
		})
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]map[string][]string{
		"a=1;b=2;a=3":   {"a": {"1", "3"}, "b": {"2"}},
		"%61=%26+":      {"a": {"& "}},
		"a=%zz":         {"a": {"%zz"}},
		"%ff=%ff&%fe=1": {"\uFFFD": {"\uFFFD", "1"}},
		"&&a=b=c&d&":    {"a": {"b=c"}, "d": {""}},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			e := eventOf(t, "GET", "/open?"+query, "")
			if diff := cmp.Diff(want, e.MultiValueQueryStringParameters); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	e := eventOf(t, "GET", "/open", "", "Host: api.example:3000", "Connection: x", "Keep-Alive: 5", "TE: trailers",
		"Upgrade: h2c",
		"Max-Forwards: 1", "Server: s", "Content-MD5: x", "Content-Length: 0", "Proxy-Authenticate: x", "WWW-Authenticate: x",
		"Expect: x",
		"Trailer: x", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-For: 5.6.7.8", "X-Forwarded-Proto: https",
		"X-Forwarded-Port: 1",
		"X-Amzn-Trace-Id: Root=1-67891233-abcdef012345678912345678", "X-Bytes: \xff")
	want := map[string]string{
		"Host": "api.example:3000", "X-Forwarded-For": "1.2.3.4, 5.6.7.8, 192.0.2.1", "X-Forwarded-Proto": "http",
		"X-Forwarded-Port": "3000",
		"X-Amzn-Trace-Id":  "Root=1-67891233-abcdef012345678912345678", "X-Bytes": "\uFFFD",
	}
	if diff := cmp.Diff(want, e.Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestMethodOverride(t *testing.T) {
	t.Parallel()
	e := eventOf(t, "POST", "/open", "", "X-HTTP-Method-Override: PUT")
	equal(t, "method", e.HTTPMethod+", "+e.RequestContext.HTTPMethod, "PUT, PUT")
}

func TestHost(t *testing.T) {
	t.Parallel()
	test := func(host, want string) {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			var event events.APIGatewayProxyRequest
			ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3000})
			request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/open", nil)
			request.Host = host
			w := newService(captures(t, &event, ok), nil).serve(t, request)
			if equal(t, "domainName", event.RequestContext.DomainName, want); (w.Code == http.StatusBadRequest) != (want == "") {
				t.Errorf("status %d", w.Code)
			}
		})
	}
	for _, valid := range []string{"example.com", "a-b_c.example.com:3000", "x:", "127.0.0.1:80", "[::1]",
		"[2001:db8::1]:3000"} {
		test(valid, valid)
	}
	test("", "127.0.0.1:3000")
	for _, malformed := range []string{":3000", "x:http", "x:1:2", "[::1", "[[::1]]", "[example.com]", "a@example.com",
		"x/a", "ä"} {
		test(malformed, "")
	}
}

func TestBodyIsText(t *testing.T) {
	t.Parallel()
	e := eventOf(t, "POST", "/open", "a\xffb\xc3\x00\"\\\u2028")
	equal(t, "body", e.Body, "a\uFFFDb\uFFFD\x00\"\\\u2028")
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	const made = "00000000-0000-4000-8000-000000000002"
	for sent, want := range map[string]string{
		chosenUUID:                  chosenUUID,
		"{" + chosenUUID[:34] + "}": made, strings.ReplaceAll(chosenUUID, "-", ""): made, strings.Repeat("z", 36): made,
	} {
		s := newService(returns(ok), nil)
		s.send(t, "GET", "/open", "", "x-amzn-RequestId: "+sent)
		equal(t, "request id", s.records[0].RequestID, want)
	}
}
