package gateway_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProxyEvent(t *testing.T) {
	t.Parallel()
	function := &capture{}
	s := newSetup(function.Invoke, says(allowAll))
	base := s.start(t)
	host := strings.TrimPrefix(base, "http://")
	_, port, _ := strings.Cut(host, ":")
	send(t, "POST", base+"/open/a%20b%2Fc?q=1&q=2&plus=a+b&enc=a%2Bb&empty=&flag", `{"x":"é\n"}`,
		"Content-Type: application/json", "X-Twice: one", "X-Twice: two", "User-Agent: probe/1")
	got := function.members(t)
	trace := "Root=1-6a5145a8-000000000000400080000000"
	single := map[string]any{
		"Host": host, "User-Agent": "probe/1", "Content-Type": "application/json", "X-Twice": "two", "Accept-Encoding": "gzip",
		"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Port": port, "X-Forwarded-Proto": "http", "X-Amzn-Trace-Id": trace,
	}
	multi := map[string]any{}
	for name, value := range single {
		multi[name] = []any{value}
	}
	multi["X-Twice"] = []any{"one", "two"}
	context, _ := got["requestContext"].(map[string]any)
	resourceID, _ := context["resourceId"].(string)
	if len(resourceID) != 6 {
		t.Errorf("resourceId %q has not 6 characters", resourceID)
	}
	identity := map[string]any{"sourceIp": "127.0.0.1", "userAgent": "probe/1"}
	for _, name := range []string{
		"accessKey", "accountId", "caller", "cognitoAuthenticationProvider", "cognitoAuthenticationType", "cognitoIdentityId",
		"cognitoIdentityPoolId", "principalOrgId", "user", "userArn",
	} {
		identity[name] = nil
	}
	want := map[string]any{
		"resource": "/open/{id}", "path": "/open/a%20b%2Fc", "httpMethod": "POST", "headers": single, "multiValueHeaders": multi,
		"queryStringParameters": map[string]any{"q": "2", "plus": "a b", "enc": "a+b", "empty": "", "flag": ""},
		"multiValueQueryStringParameters": map[string]any{
			"q": []any{"1", "2"}, "plus": []any{"a b"}, "enc": []any{"a+b"}, "empty": []any{""}, "flag": []any{""},
		},
		"pathParameters": map[string]any{"id": "a%20b%2Fc"},
		"stageVariables": nil,
		"requestContext": map[string]any{
			"accountId": "123456789012", "apiId": "a1b2c3d4e5", "stage": "prod", "resourceId": resourceID, "resourcePath": "/open/{id}",
			"httpMethod": "POST", "path": "/open/a%20b%2Fc", "protocol": "HTTP/1.1", "domainName": host, "domainPrefix": "127.0.0.1",
			"requestId": fmt.Sprintf(fixedUUID, 2), "extendedRequestId": "AAAAAAAAAAABAAA=",
			"requestTime": "10/Jul/2026:19:19:04 +0000", "requestTimeEpoch": float64(1783711144836), "identity": identity, "authorizer": nil,
		},
		"body": `{"x":"é\n"}`, "isBase64Encoded": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestEventHasNullForEmptyParts(t *testing.T) {
	t.Parallel()
	function := &capture{}
	base := newSetup(function.Invoke, says(allowAll)).start(t)
	send(t, "GET", base+"/open", "")
	got := function.members(t)
	for _, name := range []string{
		"body", "queryStringParameters", "multiValueQueryStringParameters", "pathParameters", "stageVariables",
	} {
		if value, there := got[name]; !there || value != nil {
			t.Errorf("%s is %v, want null", name, value)
		}
	}
}

func TestRawPathReachesTheEvent(t *testing.T) { // one after the other: they share the function
	function := &capture{}
	base := newSetup(function.Invoke, says(allowAll)).start(t)
	for _, tt := range []struct{ name, path, want string }{
		{"Slash", "/open/%2F", "%2F"},
		{"Percent", "/open/%25", "%25"},
		{"Space", "/open/a%20b", "a%20b"},
		{"Plus", "/open/a+b", "a+b"},
		{"UTF8", "/open/%C3%A9", "%C3%A9"},
		{"LowerCaseEscape", "/open/%c3%a9", "%c3%a9"},
		{"NeedlessEscape", "/open/%41", "%41"},
		{"NotUTF8", "/open/%FF", "%FF"},
		{"Semicolon", "/open/a;b", "a;b"},
		{"Dots", "/open/..", ".."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantOK(t, base, "GET "+tt.path+" HTTP/1.1")
			e := function.request(t)
			equal(t, "parameter", e.PathParameters["id"], tt.want)
			equal(t, "path", e.Path, tt.path)
			equal(t, "path in the context", e.RequestContext.Path, tt.path)
		})
	}
	t.Run("TrailingSlashStaysInThePath", func(t *testing.T) {
		send(t, "GET", base+"/open/7/", "")
		e := function.request(t)
		equal(t, "path", e.Path, "/open/7/")
		equal(t, "parameter", e.PathParameters["id"], "7")
	})
	t.Run("AbsoluteForm", func(t *testing.T) {
		wantOK(t, base, "GET http://api.example/open/7?x=1 HTTP/1.1")
		e := function.request(t)
		equal(t, "path", e.Path, "/open/7")
		equal(t, "domain", e.RequestContext.DomainName, "api.example")
		equal(t, "domain prefix", e.RequestContext.DomainPrefix, "api")
	})
}

func TestQueryIsDecoded(t *testing.T) { // one after the other: they share the function
	function := &capture{}
	base := newSetup(function.Invoke, says(allowAll)).start(t)
	for _, tt := range []struct {
		name, query string
		want        map[string][]string
	}{
		{"LastValueAndAllOfThem", "?a=1&b=2&a=3", map[string][]string{"a": {"1", "3"}, "b": {"2"}}},
		{"SemicolonSplits", "?a=1;b=2", map[string][]string{"a": {"1"}, "b": {"2"}}},
		{"EscapedNames", "?%61=%26", map[string][]string{"a": {"&"}}},
		{"BrokenEscapeStays", "?a=%zz", map[string][]string{"a": {"%zz"}}},
		{"NotUTF8", "?a=%ff", map[string][]string{"a": {"\uFFFD"}}},
		{"EmptyMembers", "?&&a=1&", map[string][]string{"a": {"1"}}},
		{"EqualsInTheValue", "?a=b=c", map[string][]string{"a": {"b=c"}}},
		{"NothingButTheMark", "?", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantOK(t, base, "GET /open"+tt.query+" HTTP/1.1")
			e := function.request(t)
			if diff := cmp.Diff(tt.want, e.MultiValueQueryStringParameters); diff != "" {
				t.Errorf("multi (-want +got):\n%s", diff)
			}
			var last map[string]string
			for name, values := range tt.want {
				if last == nil {
					last = map[string]string{}
				}
				last[name] = values[len(values)-1]
			}
			if diff := cmp.Diff(last, e.QueryStringParameters); diff != "" {
				t.Errorf("single (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestHeaders(t *testing.T) { // one after the other: they share the function
	function := &capture{}
	base := newSetup(function.Invoke, says(allowAll)).start(t)
	t.Run("HopByHopHeadersAreDropped", func(t *testing.T) {
		send(t, "POST", base+"/open", "x", "Connection: x-a", "Keep-Alive: 5", "TE: trailers", "Upgrade: h2c", "Max-Forwards: 1", "Server: s",
			"Content-MD5: x", "Proxy-Authenticate: x", "WWW-Authenticate: x", "User-Agent: u")
		names := slices.Sorted(maps.Keys(function.request(t).Headers))
		want := []string{"Accept-Encoding", "Host", "User-Agent", "X-Amzn-Trace-Id", "X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded-Proto"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
	})
	t.Run("ForwardedForIsAppendedTo", func(t *testing.T) {
		send(t, "GET", base+"/open", "", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: gopher", "X-Forwarded-Port: 1")
		e := function.request(t)
		equal(t, "for", e.Headers["X-Forwarded-For"], "1.2.3.4, 127.0.0.1")
		equal(t, "proto", e.Headers["X-Forwarded-Proto"], "http")
		equal(t, "source IP", e.RequestContext.Identity.SourceIP, "127.0.0.1")
	})
	t.Run("TraceRootIsKept", func(t *testing.T) {
		send(t, "GET", base+"/open", "", "X-Amzn-Trace-Id: Root=1-67891233-abcdef012345678912345678")
		equal(t, "trace", function.request(t).Headers["X-Amzn-Trace-Id"], "Root=1-67891233-abcdef012345678912345678")
	})
	t.Run("CallerURLFromTheEvent", func(t *testing.T) {
		send(t, "GET", base+"/open/7", "")
		e := function.request(t)
		equal(t, "URL", e.Headers["X-Forwarded-Proto"]+"://"+e.RequestContext.DomainName+e.RequestContext.Path, base+"/open/7")
	})
}

func TestBodyThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	function := &capture{}
	base := newSetup(function.Invoke, says(allowAll)).start(t)
	send(t, "POST", base+"/open", "a\xffb\xc3\x00\"\\\u2028")
	equal(t, "body", function.request(t).Body, "a\uFFFDb\uFFFD\x00\"\\\u2028")
}

func TestRequestID(t *testing.T) { // one after the other: they share the function
	function := &capture{}
	s := newSetup(function.Invoke, says(allowAll))
	base := s.start(t)
	t.Run("ClientChoosesIt", func(t *testing.T) {
		r := send(t, "GET", base+"/open", "", "x-amzn-RequestId: "+chosenUUID)
		equal(t, "in the event", function.request(t).RequestContext.RequestID, chosenUUID)
		equal(t, "in the answer", r.Header.Get("X-Amzn-Requestid"), chosenUUID)
		equal(t, "in the record", s.record.Load().RequestID, chosenUUID)
	})
	t.Run("OnlyAsUUID", func(t *testing.T) {
		send(t, "GET", base+"/open", "", "x-amzn-RequestId: mine")
		if got := function.request(t).RequestContext.RequestID; !strings.HasPrefix(got, "00000000-") {
			t.Errorf("request id %s", got)
		}
	})
	t.Run("ExtendedIDIsUnique", func(t *testing.T) {
		seen := map[string]bool{}
		for range 20 {
			r := send(t, "GET", base+"/open", "", "x-amzn-RequestId: "+chosenUUID)
			id := r.Header.Get("X-Amz-Apigw-Id")
			if len(id) != 16 || seen[id] {
				t.Errorf("extended request id %q", id)
			}
			seen[id] = true
		}
	})
}
