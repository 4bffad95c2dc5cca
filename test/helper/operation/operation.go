// Package operation calls the handlers of operations and compares their responses.
package operation

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Set contains handlers by the names of their operations, the names of their path parameters, and headers of requests.
// Projects is nil if every project exists and is open.
type Set struct {
	Projects   access.Reader
	Handlers   map[string]lambdahttp.HandlerFunc
	Parameters []string
	header     http.Header
}

// With returns a set whose requests also have a header.
func (s Set) With(name, value string) Set {
	if s.header = s.header.Clone(); s.header == nil {
		s.header = http.Header{}
	}
	s.header.Set(name, value)
	return s
}

// Request is a request to an operation.
type Request struct {
	Operation string
	Path      string // the values of the path parameters, separated by slashes; %FF is an invalid value
	Query     string
	Body      string
}

// Serve calls the handler. The text is the body, or the name and the message of the error.
func (s Set) Serve(ctx context.Context, q Request) (status int, header http.Header, text string) {
	ctx = s.withAccess(ctx)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/dev/api/admin/x", strings.NewReader(q.Body))
	r.Header.Set("Content-Type", "application/json")
	maps.Copy(r.Header, s.header)
	gateway := apigateway.Request{PathParameters: map[string]string{}}
	gateway.Query, _ = url.ParseQuery(q.Query)
	for i, value := range strings.SplitN(q.Path, "/", len(s.Parameters)) {
		gateway.PathParameters[s.Parameters[i]] = value
		if value != "%FF" {
			r.SetPathValue(s.Parameters[i], value)
		}
	}
	w := httptest.NewRecorder()
	if err := s.Handlers[q.Operation](w, r.WithContext(apigateway.WithRequest(ctx, gateway))); err != nil {
		e := apierror.From(err)
		return lambdahttp.Status(e.Kind), w.Header(), e.Kind.Name() + ": " + e.Message
	}
	return w.Code, w.Header(), w.Body.String()
}

// Call calls the handler of an operation. path contains the values of the path parameters, as in Request. The response
// is the status and the text, such as `200 {"id":1}`, "404 NotFoundError: There is no such toggle.", or "200" without a
// body.
func (s Set) Call(ctx context.Context, operation, path, body string) (response string) {
	status, _, text := s.Serve(ctx, Request{Operation: operation, Path: path, Body: body})
	return strings.TrimSpace(fmt.Sprint(status, " ", text))
}

// Expect compares the response of Call with want.
func (s Set) Expect(ctx context.Context, tb testing.TB, operation, path, body, want string) {
	tb.Helper()
	if got := s.Call(ctx, operation, path, body); got != want {
		tb.Errorf("%s %q %.300s:\n got %s\nwant %s", operation, path, body, got, want)
	}
}

// ExpectQuery compares the response of an operation without a path and a body with want, as Expect does.
func (s Set) ExpectQuery(ctx context.Context, tb testing.TB, operation, query, want string) {
	tb.Helper()
	status, _, text := s.Serve(ctx, Request{Operation: operation, Query: query})
	if got := fmt.Sprint(status, " ", text); got != want {
		tb.Errorf("%s ?%s:\n got %s\nwant %s", operation, query, got, want)
	}
}

// ExpectStatus compares the status of the response of an operation with want.
func (s Set) ExpectStatus(ctx context.Context, tb testing.TB, operation, path, body string, want int) {
	tb.Helper()
	status, _, text := s.Serve(ctx, Request{Operation: operation, Path: path, Body: body})
	if status != want {
		tb.Errorf("%s %q %.300s:\n got %d %s\nwant %d", operation, path, body, status, text, want)
	}
}
