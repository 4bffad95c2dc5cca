package gateway_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
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
	got := eventOf(t, "POST", "/open/a%20b%2Fc?q=1&q=2", `{"x":"é\n"}`, "X-Twice: one", "x-twice: two", "User-Agent: probe/1")
	single := map[string]string{
		"Host": "example.com", "User-Agent": "probe/1", "X-Twice": "two", "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Port": "80",
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
	for _, name := range []string{"queryStringParameters", "multiValueQueryStringParameters", "pathParameters", "stageVariables"} {
		if value, there := event[name]; !there || value != nil {
			t.Errorf("%s is %v, want null", name, value)
		}
	}
}

func TestPathIsRaw(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ target, path, id string }{
		{"/open/%2F", "/open/%2F", "%2F"},
		{"/open/%c3%A9", "/open/%c3%A9", "%c3%A9"},
		{"/open/%41%FF", "/open/%41%FF", "%41%FF"},
		{"/open/a+b;c", "/open/a+b;c", "a+b;c"},
		{"/open/..", "/open/..", ".."},
		{"/open/7/", "/open/7/", "7"},
		{"http://api.example/open/7%2f?x=1", "/open/7%2f", "7%2f"},
	} {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			e := eventOf(t, "GET", tt.target, "")
			equal(t, "parameter", e.PathParameters["id"], tt.id)
			equal(t, "path", e.Path, tt.path)
			equal(t, "path in the context", e.RequestContext.Path, tt.path)
		})
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		query string
		want  map[string][]string
	}{
		{"a=1&b=2&a=3", map[string][]string{"a": {"1", "3"}, "b": {"2"}}},
		{"a=1;b=2", map[string][]string{"a": {"1"}, "b": {"2"}}},
		{"%61=%26+", map[string][]string{"a": {"& "}}},
		{"a=%zz", map[string][]string{"a": {"%zz"}}},
		{"%ff=%ff&%fe=1", map[string][]string{"\uFFFD": {"\uFFFD", "1"}}},
		{"&&a=b=c&d&", map[string][]string{"a": {"b=c"}, "d": {""}}},
	} {
		t.Run(tt.query, func(t *testing.T) {
			t.Parallel()
			e := eventOf(t, "GET", "/open?"+tt.query, "")
			last := map[string]string{}
			for name, values := range tt.want {
				last[name] = values[len(values)-1]
			}
			if diff := cmp.Diff(tt.want, e.MultiValueQueryStringParameters) + cmp.Diff(last, e.QueryStringParameters); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	e := eventOf(t, "GET", "/open", "", "Host: api.example:3000", "Connection: x", "Keep-Alive: 5", "TE: trailers", "Upgrade: h2c", "Max-Forwards: 1",
		"Server: s", "Content-MD5: x", "Content-Length: 0", "Proxy-Authenticate: x", "WWW-Authenticate: x", "Expect: x", "Trailer: x",
		"X-Forwarded-For: 1.2.3.4", "X-Forwarded-For: 5.6.7.8", "X-Forwarded-Proto: https", "X-Forwarded-Port: 1",
		"X-Amzn-Trace-Id: Root=1-67891233-abcdef012345678912345678", "X-Bytes: \xff")
	want := map[string]string{
		"Host": "api.example:3000", "X-Forwarded-For": "1.2.3.4, 5.6.7.8, 192.0.2.1", "X-Forwarded-Proto": "http", "X-Forwarded-Port": "3000",
		"X-Amzn-Trace-Id": "Root=1-67891233-abcdef012345678912345678", "X-Bytes": "\uFFFD",
	}
	if diff := cmp.Diff(want, e.Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestMethodOverride(t *testing.T) {
	t.Parallel()
	e := eventOf(t, "POST", "/open", "", "X-HTTP-Method-Override: PUT")
	equal(t, "method", e.HTTPMethod+" "+e.RequestContext.HTTPMethod, "PUT PUT")
	equal(t, "function for an unknown method", eventOf(t, "POST", "/open", "", "X-HTTP-Method-Override: BREW").Resource, "")
}

func TestHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"example.com": "example.com", "a-b_c.example.com:3000": "a-b_c.example.com:3000", "example.com:": "example.com:",
		"127.0.0.1:80": "127.0.0.1:80", "[::1]": "[::1]", "[2001:db8::1]:3000": "[2001:db8::1]:3000",
		"": "127.0.0.1:3000", // the connection's
		// status 400
		":3000": "", "example.com:http": "", "example.com:1:2": "", "[::1": "", "[]": "", "[[::1]]": "", "[example.com]": "",
		"[fe80::1%25eth0]": "", "a@example.com": "", "a%41": "", "example.com/a": "", "exämple.com": "",
	} {
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
}

func TestBodyIsText(t *testing.T) {
	t.Parallel()
	e := eventOf(t, "POST", "/open", "a\xffb\xc3\x00\"\\\u2028")
	equal(t, "body", e.Body, "a\uFFFDb\uFFFD\x00\"\\\u2028")
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	var event events.APIGatewayProxyRequest
	s := newService(captures(t, &event, ok), nil)
	var extended []string
	for header, want := range map[string]string{
		chosenUUID:                    chosenUUID,
		strings.ToUpper(chosenUUID):   strings.ToUpper(chosenUUID),
		"mine":                        "00000000-",
		"{" + chosenUUID[:34] + "}":   "00000000-",
		chosenUUID + "0":              "00000000-",
		strings.Repeat("z", 36):       "00000000-",
		"urn:uuid:" + chosenUUID[:27]: "00000000-",
	} {
		w := s.send(t, "GET", "/open", "", "x-amzn-RequestId: "+header)
		id := event.RequestContext.RequestID
		if !strings.HasPrefix(id, want) || w.Header()["x-amzn-RequestId"][0] != id || s.records[len(s.records)-1].RequestID != id {
			t.Errorf("%q: request id %q", header, id)
		}
		if slices.Contains(extended, event.RequestContext.ExtendedRequestID) {
			t.Errorf("extended request id %q is not unique", event.RequestContext.ExtendedRequestID)
		}
		extended = append(extended, event.RequestContext.ExtendedRequestID)
	}
}
