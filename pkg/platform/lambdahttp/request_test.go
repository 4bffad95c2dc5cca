package lambdahttp_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
)

// described returns what a handler reads of the request of an event.
func described(tb testing.TB, payload []byte) (got string) {
	tb.Helper()
	handler, _ := function(func(_ http.ResponseWriter, r *http.Request) error {
		id, idErr := lambdahttp.PathParam(r, "id")
		body, bodyErr := io.ReadAll(r.Body)
		gateway := apigateway.RequestFrom(r.Context())
		got = fmt.Sprintf("%s %s host=%s target=%s pattern=%s headers=%v gateway=%s %v query=%v id=%s %v length=%d "+
			"body=%s %v.", r.Method, r.URL, r.Host, r.RequestURI, r.Pattern, r.Header, gateway.ID,
			gateway.Authorizer, gateway.Query, id, idErr, r.ContentLength, body, bodyErr)
		return nil
	})
	invoke(tb, handler, payload)
	return got
}

func TestRequest(t *testing.T) {
	t.Parallel()
	const forged = `{\"authorizer\":{\"principalId\":\"user:9\"},\"extendedRequestId\":\"forged\"}`
	limit := strings.Repeat("a", lambdahttp.DefaultMaxBody)
	encoded := base64.StdEncoding.EncodeToString([]byte(limit + "a"))
	for _, test := range []struct {
		event string // the changes
		want  string // a part of the request
	}{
		{
			`"headers":{"a":"b"},"body":"seven b"`,
			"PUT https://a.example/dev/api/admin/feedback/a%20b host=a.example target=/dev/api/admin/feedback/a%20b pattern=/api/admin/feedback/{id} headers=map[A:[b]] gateway=X map[principalId:user:1] query=map[] id=a b <nil> length=7 body=seven b <nil>.",
		},
		{`"headers":{"a":"b"},"multiValueHeaders":{}`, "headers=map[A:[b]]"},
		{`"headers":{"a":"b"},"multiValueHeaders":{"a":["c","d"]}`, "headers=map[A:[c d]]"},
		{`"requestContext":{"path":"/dev/a%2Fb/"}`, "PUT https://a.example/dev/a%2Fb/ host"},
		{`"requestContext":{"path":""}`, "PUT https://a.example host"},
		{`"requestContext":{"path":"/50%"}`, "PUT https://a.example/50%25 host"},
		{`"requestContext":{"path":"/a b?c"}`, "PUT https://a.example/a%20b%3Fc host"},
		{
			`"multiValueQueryStringParameters":{"id":["c"]}`,
			"feedback/a%20b pattern=/api/admin/feedback/{id} headers=map[] gateway=X map[principalId:user:1] query=map[id:[c]]",
		},
		{
			`"requestContext":{"domainName":"127.0.0.1:3000","path":"/a"},"headers":{"x-forwarded-proto":"http"}`,
			"PUT http://127.0.0.1:3000/a host=127.0.0.1:3000",
		},
		{`"headers":{"X-Forwarded-Proto":"https"}`, "PUT https://a.example/"},
		{`"headers":{"X-Forwarded-Proto":"javascript"}`, "PUT https://a.example/"},
		{
			`"requestContext":{"domainName":"","path":"/a"},"headers":{"host":"localhost:3000"}`,
			"PUT https://localhost:3000/a host=localhost:3000",
		},
		// a Host header does not override the domain
		{`"headers":{"Host":"evil.example"}`, "PUT https://a.example/dev/api/admin/feedback/a%20b host=a.example"},
		// sam local repeats the resource
		{
			`"resource":"/a/{id}","path":"/a/b%20c/","requestContext":{"path":"/a/{id}"}`,
			"PUT https://a.example/a/b%20c/ host=a.example target=/a/b%20c/ pattern=/a/{id}",
		},
		// headers that the proxy library trusts
		{`"headers":{"X-Golambdaproxy-Apigw-Context":"` + forged + `"}`, "headers=map[] gateway=X map[principalId:user:1]"},
		{`"headers":{"x-golambdaproxy-apigw-stagevars":"` + forged + `"}`, "headers=map[] gateway=X map[principalId:user:1]"},
		{
			`"multiValueHeaders":{"x-golambdaproxy-apigw-context":["` + forged + `","` + forged + `"]}`,
			"headers=map[] gateway=X map[principalId:user:1]",
		},
		{`"multiValueHeaders":{"X-GOLAMBDAPROXY-APIGW-STAGEVARS":["` + forged + `"]}`, "headers=map[] gateway=X map[principalId:user:1]"},
		{`"pathParameters":{"id":"abc"}`, "id=abc <nil>"},
		{`"pathParameters":{"id":"a%20b%2Fc%2fd%25"}`, "id=a b/c/d% <nil>"},
		// decoded once
		{`"pathParameters":{"id":"a%252Fb"}`, "id=a%2Fb <nil>"},
		{`"pathParameters":{"id":"a+b%2Bc"}`, "id=a+b+c <nil>"},
		{`"pathParameters":{"id":"a%3Fb;c=d%23e"}`, "id=a?b;c=d#e <nil>"},
		{`"pathParameters":{"id":"%2E%2E"}`, "id=.. <nil>"},
		{`"pathParameters":{"id":"é%C3%A9"}`, "id=éé <nil>"},
		{`"pathParameters":{"id":"%00"}`, "id=\x00 <nil>"},
		{`"pathParameters":{"id":"` + strings.Repeat("%F0%9F%98%80", 255) + `"}`, "id=" + strings.Repeat("😀", 255) + " <nil>"},
		{`"pathParameters":{"id":"` + strings.Repeat("a", 256) + `"}`, "id=" + strings.Repeat("a", 256) + " invalid path parameter"},
		{`"pathParameters":{"id":"%zz"}`, "id=%zz invalid path parameter"},
		{`"pathParameters":{"id":"50%"}`, "id=50% invalid path parameter"},
		{`"pathParameters":{"id":"%ff"}`, "id=%ff invalid path parameter"},
		{`"pathParameters":{"id":""}`, "id= invalid path parameter"},
		{`"body":""`, "length=0 body= <nil>."},
		{`"body":"` + limit + `"`, "length=102400 body=" + limit + " <nil>."},
		{`"body":"` + limit + `a"`, "length=102401 body=" + limit + " http: request body too large."},
		{"\"body\":\"\xff\"", "body=� <nil>."},
		{`"isBase64Encoded":true,"body":"/wA="`, "length=-1 body=\xff\x00 <nil>."},
		{`"isBase64Encoded":true,"body":"` + encoded + `"`, "length=-1 body=" + limit + " http: request body too large."},
		{`"isBase64Encoded":true,"body":"%%%%"`, "body= illegal base64 data at input byte 0."},
	} {
		if got := described(t, event(test.event)); !strings.Contains(got, test.want) {
			t.Errorf("%.200s: %.1000s\nwant %.1000s", test.event, got, test.want)
		}
	}
}

func TestUnusualEventsReachTheHandler(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "get", "FOO BAR", `G\nET`, "%zz", "[", "a b", "user@host", "//example.org/?#"} {
		got := described(t, event(strings.ReplaceAll(
			`"httpMethod":"X","path":"X","resource":"X","requestContext":{"path":"X","domainName":"X"}`, "X", text)))
		if !strings.HasPrefix(strings.ReplaceAll(got, "\n", `\n`), text+" ") {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestBadPathParam(t *testing.T) {
	t.Parallel()
	got := apierror.From(lambdahttp.BadPathParam("period", strings.Repeat("a", 256)))
	want := "ValidationError: The `/params/period` property must be UTF-8, percent-encoded and at most 255 characters " +
		"long; you sent \"" + strings.Repeat("a", 100) + "…\"."
	assert.Equal(t, want, got.Error())
}

func TestContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, "value"), deadline)
	defer cancel()
	var seen *http.Request
	handler, _ := function(func(_ http.ResponseWriter, r *http.Request) error { seen = r; return nil })
	_, err := handler.Invoke(ctx, event(""))
	assert.OK(t, err)
	got, _ := seen.Context().Deadline()
	assert.Equal(t, []any{"value", invocation.Margin}, []any{seen.Context().Value(key{}), deadline.Sub(got)})
	invoke(t, handler, event("")) // without a deadline of the invocation
	if got, ok := seen.Context().Deadline(); ok {
		t.Errorf("deadline %v", got)
	}
}
