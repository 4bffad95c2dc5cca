package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/test/assert"
	"toggleadmin/test/golden"
	"toggleadmin/test/table"
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
	golden.JSON(t, "testdata/event.json", got)
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
	for _, row := range table.Rows(t, 2, `
		# target | parameter
		/open/%2F | %2F
		/open/%c3%A9 | %c3%A9
		/open/%41%FF | %41%FF
		/open/a+b;c | a+b;c
		/open/.. | ..
		/open/7/ | 7
		http://api.example/open/7%2f | 7%2f
	`) {
		e, path := eventOf(t, "GET", row[0], ""), strings.TrimPrefix(row[0], "http://api.example")
		equal(t, row[0], e.PathParameters["id"]+" "+e.Path+" "+e.RequestContext.Path, row[1]+" "+path+" "+path)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, `
		# query | values
		a=1;b=2;a=3 | map[a:[1 3] b:[2]]
		%61=%26+ | map[a:[& ]]
		a=%zz | map[a:[%zz]]
		%ff=%ff&%fe=1 | map[�:[� 1]]
		&&a=b=c&d& | map[a:[b=c] d:[]]
	`) {
		got := eventOf(t, "GET", "/open?"+row[0], "").MultiValueQueryStringParameters
		equal(t, row[0], fmt.Sprint(got), row[1])
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	e := eventOf(t, "GET", "/open", "", strings.Split(`Host: api.example:3000
Connection: x
Keep-Alive: 5
TE: trailers
Upgrade: h2c
Max-Forwards: 1
Server: s
Content-MD5: x
Content-Length: 0
Proxy-Authenticate: x
WWW-Authenticate: x
Expect: x
Trailer: x
X-Forwarded-For: 1.2.3.4
X-Forwarded-For: 5.6.7.8
X-Forwarded-Proto: https
X-Forwarded-Port: 1
X-Amzn-Trace-Id: Root=1-67891233-abcdef012345678912345678
X-Bytes: `+"\xff", "\n")...)
	want := map[string]string{
		"Host": "api.example:3000", "X-Forwarded-For": "1.2.3.4, 5.6.7.8, 192.0.2.1", "X-Forwarded-Proto": "http",
		"X-Forwarded-Port": "3000",
		"X-Amzn-Trace-Id":  "Root=1-67891233-abcdef012345678912345678", "X-Bytes": "\uFFFD",
	}
	assert.Equal(t, want, e.Headers)
}

func TestMethodOverride(t *testing.T) {
	t.Parallel()
	e := eventOf(t, "POST", "/open", "", "X-HTTP-Method-Override: PUT")
	equal(t, "method", e.HTTPMethod+", "+e.RequestContext.HTTPMethod, "PUT, PUT")
}

func TestHost(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, `
		# sent | host; none: 400
		example.com | example.com
		a-b_c.example.com:3000 | a-b_c.example.com:3000
		x: | x:
		127.0.0.1:80 | 127.0.0.1:80
		[::1] | [::1]
		[2001:db8::1]:3000 | [2001:db8::1]:3000
		|
		:3000 |
		x:http |
		x:1:2 |
		[::1 |
		[[::1]] |
		[example.com] |
		a@example.com |
		x/a |
		ä |
	`) {
		var event events.APIGatewayProxyRequest
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/open", nil)
		request.Host = row[0]
		w := newService(captures(t, &event, ok), nil).serve(t, request)
		if equal(t, row[0], event.RequestContext.DomainName, row[1]); (w.Code == http.StatusBadRequest) != (row[1] == "") {
			t.Errorf("%s: status %d", row[0], w.Code)
		}
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
		equal(t, "request id", s.records[0].ID, want)
	}
}
