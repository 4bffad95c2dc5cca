package gateway_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/test/helper/assert"
)

// TestEvents compares the events of the authorizer and the function for the same request.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newService()
	s.send(t, "POST /things/a%20b%2Fc/?q=1&q=2 X-Twice: one\nx-twice: two\nUser-Agent: probe/1\n"+
		"X-HTTP-Method-Override: PUT", `{"x":"é\n"}`)
	assert.JSON(t, "testdata/authorizer.json", jsontext.Value(s.events[0]))
	assert.JSON(t, "testdata/function.json", jsontext.Value(s.events[1]))
}

func TestEventMembers(t *testing.T) {
	t.Parallel()
	const newID = `"requestId":"00000000-0000-4000-8000-000000000002"`
	for _, test := range []struct {
		request string
		body    string
		want    string // part of the function's event
	}{
		{
			request: "GET /open?",
			want:    `"multiValueQueryStringParameters":null,"path":"/open","pathParameters":null,"queryStringParameters":null`,
		},
		{"GET /open/%2F", "", `"path":"/open/%2F","pathParameters":{"id":"%2F"}`},
		{"GET /open/%c3%A9", "", `"path":"/open/%c3%A9","pathParameters":{"id":"%c3%A9"}`},
		{"GET /open/%41%FF", "", `"path":"/open/%41%FF","pathParameters":{"id":"%41%FF"}`},
		{"GET /open/a+b;c", "", `"path":"/open/a+b;c","pathParameters":{"id":"a+b;c"}`},
		{"GET /open/..", "", `"path":"/open/..","pathParameters":{"id":".."}`},
		{"GET /open/7/", "", `"path":"/open/7/","pathParameters":{"id":"7"}`},
		{"GET http://api.example/open/7%2f", "", `"path":"/open/7%2f","pathParameters":{"id":"7%2f"}`},
		{"GET /open?a=1;b=2;a=3", "", `"multiValueQueryStringParameters":{"a":["1","3"],"b":["2"]}`},
		{"GET /open?%61=%26+", "", `"multiValueQueryStringParameters":{"a":["& "]}`},
		{"GET /open?a=%zz", "", `"multiValueQueryStringParameters":{"a":["%zz"]}`},
		{"GET /open?%ff=%ff&%fe=1", "", `"multiValueQueryStringParameters":{"�":["�","1"]}`},
		{"GET /open?&&a=b=c&d&", "", `"multiValueQueryStringParameters":{"a":["b=c"],"d":[""]}`},
		{"POST /open", "a\xffb\xc3\x00\"\\\u2028", "\"body\":\"a\uFFFDb\uFFFD\\u0000\\\"\\\\\u2028\""},
		{
			request: "GET /open Host: api.example:3000\nX-Forwarded-For: 1.2.3.4\nX-Forwarded-For: " +
				"5.6.7.8\nX-Forwarded-Proto: https\nX-Forwarded-Port: 1",
			want: `"X-Forwarded-For":"1.2.3.4, 5.6.7.8, 192.0.2.1","X-Forwarded-Port":"3000","X-Forwarded-Proto":"http"}`,
		},
		{
			request: "GET /open X-Amzn-Trace-Id: Root=1-67891233-abcdef012345678912345678\nX-Bytes: \xff",
			want:    `"X-Amzn-Trace-Id":"Root=1-67891233-abcdef012345678912345678","X-Bytes":"�",`,
		},
		// headers that do not reach the function
		{
			request: "GET /open Connection: x\nKeep-Alive: 5\nTE: trailers\nUpgrade: h2c\nMax-Forwards: 1\nServer: " +
				"s\nContent-MD5: x\nContent-Length: 0",
			want: `"headers":{"Host":"example.com","X-Amzn-Trace-Id":"Root=1-6a5145a8-000040008000000000000001",` +
				`"X-Forwarded-For":"192.0.2.1","X-Forwarded-Port":"80","X-Forwarded-Proto":"http"}`,
		},
		{
			request: "GET /open Proxy-Authenticate: x\nWWW-Authenticate: x\nExpect: x\nTrailer: x",
			want: `"headers":{"Host":"example.com","X-Amzn-Trace-Id":"Root=1-6a5145a8-000040008000000000000001",` +
				`"X-Forwarded-For":"192.0.2.1","X-Forwarded-Port":"80","X-Forwarded-Proto":"http"}`,
		},
		{"GET /open Host: example.com", "", `"domainName":"example.com"`},
		{"GET /open Host: a-b_c.example.com:3000", "", `"domainName":"a-b_c.example.com:3000"`},
		{"GET /open Host: x:", "", `"domainName":"x:"`},
		{"GET /open Host: 127.0.0.1:80", "", `"domainName":"127.0.0.1:80"`},
		{"GET /open Host: [::1]", "", `"domainName":"[::1]"`},
		{"GET /open Host: [2001:db8::1]:3000", "", `"domainName":"[2001:db8::1]:3000"`},
		{
			request: `GET /things Authorizer: return {"principalId":"user:1",` +
				`"policyDocument":{"Statement":[{"Action":["execute-api:Invoke"],"Effect":"Allow",` +
				`"Resource":["*"]}]},"context":{"text":"a\"b","number":1,"float":1.5,"yes":true,"nothing":null,` +
				`"empty":"","principalId":"forged"}}`,
			want: `"authorizer":{"empty":"","float":"1.5","integrationLatency":0,"number":"1",` +
				`"principalId":"user:1","text":"a\"b","yes":"true"}`,
		},
		{"GET /open x-amzn-RequestId: " + chosenUUID, "", `"requestId":"` + chosenUUID + `"`},
		{"GET /open x-amzn-RequestId: {7c2af7db-31f3-42b5-8a6d-9ffc74e3b9e}", "", newID},
		{"GET /open x-amzn-RequestId: 7c2af7db31f342b58a6d9ffc74e3b9e0", "", newID},
		{"GET /open x-amzn-RequestId: " + strings.Repeat("z", 36), "", newID},
	} {
		s := newService()
		s.send(t, test.request, test.body)
		if event := s.events[len(s.events)-1]; !strings.Contains(event, test.want) {
			t.Errorf("%s: %s\nwant %s", test.request, event, test.want)
		}
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		"", ":3000", "x:http", "x:1:2", "[::1", "[[::1]]", "[example.com]", "a@example.com", "x/a", "ä",
	} {
		newService().expect(t, "GET /open Host: "+host, "", "400 - -", `{"message":"Bad Request"}`)
	}
}
