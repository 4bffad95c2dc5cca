package lambdahttp_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	r := request(t, func(e *event) { e.Body = "seven b" })
	gateway := lambdahttp.GatewayFrom(r.Context())
	assert.Equal(t, []any{"PUT", r.URL.Host, "/dev/api/admin/feedback/autumn%20survey", int64(7), []string{"application/json"},
		requestID, "user:1"}, []any{r.Method, r.Host, r.RequestURI, r.ContentLength, r.Header.Values("Content-Type"),
		gateway.RequestID, gateway.Authorizer["principalId"]})
}

func TestURL(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 4, `
		# domain | path | header | URL
		a.example | /dev/api/admin/feedback/autumn%20survey | | https://a.example/dev/api/admin/feedback/autumn%20survey
		a.example | /dev/a%2Fb/ | | https://a.example/dev/a%2Fb/
		127.0.0.1:3000 | /a | x-forwarded-proto: http | http://127.0.0.1:3000/a
		a.example | /a | X-Forwarded-Proto: https | https://a.example/a
		a.example | /a | X-Forwarded-Proto: javascript | https://a.example/a
		| /a | host: localhost:3000 | https://localhost:3000/a
		# a Host header does not override the domain
		a.example | /a | Host: evil.example | https://a.example/a
		a.example | | | https://a.example
		a.example | /50% | | https://a.example/50%25
		a.example | /a b?c | | https://a.example/a%20b%3Fc
	`) {
		r := request(t, func(e *event) {
			name, value, _ := strings.Cut(row[2], ": ")
			e.Headers, e.MultiValueHeaders = map[string]string{name: value}, nil
			e.RequestContext.DomainName, e.RequestContext.Path = row[0], row[1]
			e.MultiValueQueryStringParameters = map[string][]string{"id": {"ignored"}}
		})
		assert.Equal(t, row[3], r.URL.String())
	}
}

func TestSAMLocalRepeatsTheResource(t *testing.T) {
	t.Parallel()
	r := request(t, func(e *event) { e.Resource, e.RequestContext.Path, e.Path = "/a/{id}", "/a/{id}", "/a/b%20c/" })
	assert.Equal(t, []string{"/a/b%20c/", "/a/{id}"}, []string{r.URL.EscapedPath(), r.Pattern})
}

func TestPathParam(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, strings.NewReplacer("255×%", strings.Repeat("%F0%9F%98%80", 255),
		"255×", strings.Repeat("😀", 255), "256×a", strings.Repeat("a", 256)).Replace(`
		# sent | value; none: invalid
		abc | abc
		a%20b%2Fc%2fd%25 | a b/c/d%
		# decoded once
		a%252Fb | a%2Fb
		a+b%2Bc | a+b+c
		a%3Fb;c=d%23e | a?b;c=d#e
		%2E%2E | ..
		é%C3%A9 | éé
		%00 | "\x00"
		255×% | 255×
		256×a |
		%zz |
		50% |
		%ff |
		|
	`)) {
		r := request(t, func(e *event) { e.PathParameters["id"] = row[0] })
		want, wantErr := row[1], error(nil)
		if want == "" {
			want, wantErr = row[0], lambdahttp.ErrPathParam
		}
		got, err := lambdahttp.PathParam(r, "id")
		assert.ErrorIs(t, err, wantErr)
		assert.Equal(t, []string{want, row[1]}, []string{got, r.PathValue("id")})
	}
}

func TestBadPathParam(t *testing.T) {
	t.Parallel()
	got := apierror.From(lambdahttp.BadPathParam("period", strings.Repeat("a", 256)))
	want := "The `/params/period` property must be UTF-8, percent-encoded and at most 255 characters long; you sent \"" +
		strings.Repeat("a", 100) + "…\"."
	if got.Kind != apierror.Validation || got.Message != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	limit := strings.Repeat("a", lambdahttp.MaxBody)
	encoded := func(body string) string { return base64.StdEncoding.EncodeToString([]byte(body)) }
	for _, row := range table.Rows(t, 4, strings.NewReplacer("LIMIT", limit, "ENCODED", encoded(limit+"a")).Replace(`
		# sent | its encoding | read | error
		| | |
		LIMIT | | LIMIT |
		LIMITa | | LIMIT | http: request body too large
		"\xff" | | � |
		/wA= | base64 | "\xff\x00" |
		ENCODED | base64 | LIMIT | http: request body too large
		%%%% | base64 | | illegal base64 data at input byte 0
	`)) {
		r := request(t, func(e *event) { e.Body, e.IsBase64Encoded = row[0], row[1] != "" })
		got, err := io.ReadAll(r.Body)
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		assert.Equal(t, row[2:], []string{string(got), failed})
		assert.Equal(t, row[1] != "", r.ContentLength < 0)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, "value"), deadline)
	defer cancel()
	handler, _ := function(func(_ http.ResponseWriter, r *http.Request) error {
		if got, _ := r.Context().Deadline(); !got.Equal(deadline.Add(-lambdahttp.DeadlineMargin)) {
			t.Errorf("deadline is %v before the end of the invocation", deadline.Sub(got))
		}
		if r.Context().Value(key{}) != "value" {
			t.Error("the invocation's context is lost")
		}
		return nil
	})
	_, err := handler.Invoke(ctx, []byte("{}"))
	assert.OK(t, err)
	if got, ok := request(t).Context().Deadline(); ok {
		t.Errorf("deadline %v without one of the invocation", got)
	}
}
