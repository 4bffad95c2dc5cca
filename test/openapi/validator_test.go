package openapi_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/test/openapi"
)

const (
	notFoundBody = `{"id":"0b9b5f5e-7d0e-4c1c-8a55-2d7b1f0f9a06","name":"NotFoundError","message":"Not there."}`
	typeBody     = `{"id":"release","name":"Release","description":"New.","lifetimeDays":30}`
	feedbackBody = `{"feedbackId":"x","userId":1,"neverShow":true,"given":null}`
	pat          = `{"id":1,"secret":"user:v2_AAAAAAAAAAQAAAAAAAAADA_ExampleExampleExampleExampleExampleExampleE","userId":4,"description":"d",` +
		`"createdAt":"2026-11-20T05:39:00.000Z","seenAt":null,"expiresAt":"2099-11-20T05:39:00.000Z"}`
)

// exchange is one request and its answer. Answers carry the headers that all of them have; header adds to them, "" takes one away.
type exchange struct {
	name   string
	method string
	path   string
	sent   string // body of the request
	status int
	header map[string]string
	body   string
	want   string // part of what is reported; empty: nothing is
}

func TestTransport(t *testing.T) {
	t.Parallel()
	const lifetime = "/api/admin/feature-types/release/lifetime"
	const tokens = "/api/admin/service-account/4/token"
	location := map[string]string{"Location": "http://127.0.0.1:3000/dev/api/admin/service-account/4/token/1"}
	tests := []exchange{
		{name: "all fits", method: "PUT", path: lifetime, sent: `{"lifetimeDays":30}`, status: 200, body: typeBody},
		{name: "a trailing slash and a query", method: "GET", path: "/api/admin/context/?a=b", status: 200, body: `[]`},
		{name: "an encoded slash", method: "PUT", path: "/api/admin/feedback/a%2Fb", sent: `{}`, status: 200, body: feedbackBody},
		{name: "a refused request may be anything", method: "PUT", path: lifetime, sent: `{"lifetimeDays":"x"`, status: 400,
			body: strings.Replace(notFoundBody, "NotFoundError", "ValidationError", 1)},
		{name: "unknown path", method: "GET", path: "/api/admin", status: 404, body: notFoundBody},
		{name: "unknown method", method: "PATCH", path: "/api/admin/context", status: 404, body: notFoundBody},
		{name: "HEAD has no body", method: "HEAD", path: "/api/admin/context", status: 404},
		{name: "no body on success", method: "DELETE", path: "/api/admin/user/tokens/1", status: 200},
		{name: "the gateway's own 413", method: "GET", path: "/api/admin/context", status: 413, body: `{"message":"Request Too Long"}`,
			header: map[string]string{"Cache-Control": "", "X-Request-Id": ""}},
		{name: "location", method: "POST", path: tokens, sent: `{"description":"d","expiresAt":"2099-11-20t05:39:00z"}`, status: 201, body: pat, header: location},

		{name: "undeclared status", method: "GET", path: "/api/admin/context", status: 418, body: `[]`, want: "status is not declared"},
		{name: "404 of an operation that has none", method: "GET", path: "/api/admin/context", status: 404, body: notFoundBody, want: "status is not declared"},
		{name: "403 of an operation that has none", method: "PUT", path: "/api/admin/feedback/x", sent: `{}`, status: 403,
			body: strings.Replace(notFoundBody, "NotFoundError", "NoAccessError", 1), want: "status is not declared"},
		{name: "unknown path with success", method: "GET", path: "/api/admin/x", status: 200, body: `{}`, want: "must be 404"},
		{name: "doubled slash with success", method: "GET", path: "/api//admin/context", status: 200, body: `[]`, want: "must be 404"},
		{name: "unknown path without error object", method: "GET", path: "/x", status: 404, body: `{"message":"Not Found"}`, want: "missing properties 'id', 'name'"},
		{name: "a fourth member in an error", method: "GET", path: "/x", status: 404, body: strings.Replace(notFoundBody, "{", `{"details":[],`, 1), want: "'details' not allowed"},
		{name: "name of another status", method: "PUT", path: lifetime, sent: `{}`, status: 400, body: notFoundBody, want: "must be 'ValidationError'"},
		{name: "an id that is no UUID", method: "GET", path: "/x", status: 404, body: strings.Replace(notFoundBody, "0b9b5f5e-", "", 1), want: "'/id'"},
		{name: "missing member", method: "PUT", path: lifetime, sent: `{"lifetimeDays":30}`, status: 200, body: `{"id":"release","name":"R","lifetimeDays":1}`,
			want: "missing property 'description'"},
		{name: "id of another type", method: "PUT", path: "/api/admin/feedback/x", sent: `{}`, status: 200,
			body: strings.Replace(feedbackBody, "1", `"1"`, 1), want: "got string, want integer"},
		{name: "lifetime 0 in an answer", method: "PUT", path: lifetime, sent: `{"lifetimeDays":0}`, status: 200, body: strings.Replace(typeBody, "30", "0", 1), want: "minimum"},
		{name: "seconds without milliseconds", method: "PUT", path: "/api/admin/feedback/x", sent: `{}`, status: 200,
			body: strings.Replace(feedbackBody, "null", `"2026-11-20T05:39:00Z"`, 1), want: "does not match pattern"},
		{name: "no JSON", method: "GET", path: "/api/admin/context", status: 200, body: `[`, want: "no JSON"},
		{name: "a body where none is", method: "DELETE", path: "/api/admin/user/tokens/1", status: 200, body: `{}`, want: "2 bytes instead of none"},
		{name: "success for a bad body", method: "PUT", path: lifetime, sent: `{"lifetimeDays":-1}`, status: 200, body: typeBody, want: "request does not fit"},
		{name: "success for no body", method: "PUT", path: lifetime, status: 200, body: typeBody, want: "request does not fit"},
		{name: "success for a bad parameter", method: "GET", path: "/api/admin/metrics/traffic/2026-13", status: 200,
			body: `{"period":"2026-12","apiData":[]}`, want: "parameter period does not fit"},
		{name: "missing header", method: "GET", path: "/api/admin/context", status: 200, body: `[]`, header: map[string]string{"X-Request-Id": ""}, want: "X-Request-Id is missing"},
		{name: "wrong header", method: "GET", path: "/api/admin/context", status: 200, body: `[]`, header: map[string]string{"Cache-Control": "private"}, want: "Cache-Control does not fit"},
		{name: "no location", method: "POST", path: tokens, sent: `{"description":"d","expiresAt":"2099-11-20T05:39:00Z"}`, status: 201, body: pat, want: "Location is missing"},
		{name: "wrong content type", method: "GET", path: "/api/admin/context", status: 200, body: `[]`, header: map[string]string{"Content-Type": "text/plain"}, want: "content type"},
		{name: "401 without WWW-Authenticate", method: "GET", path: "/api/admin/context", status: 401,
			body: strings.Replace(notFoundBody, "NotFoundError", "AuthenticationRequired", 1), want: "WWW-Authenticate is missing"},
		{name: "no credential in a report", method: "POST", path: tokens, sent: `{"description":"d","expiresAt":"2099-11-20T05:39:00Z"}`, status: 201,
			body: strings.Replace(pat, "E\"", "\"", 1), header: location, want: "v2_[redacted]"},
	}
	validator, err := openapi.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := test.report(t, func(base http.RoundTripper, report func(error)) http.RoundTripper {
				return validator.Transport(base, "", report)
			})
			if test.want == "" && got != "" {
				t.Errorf("reported: %s", got)
			}
			if !strings.Contains(got, test.want) || (test.want != "" && got == "") {
				t.Errorf("reported %q, want something with %q", got, test.want)
			}
			if strings.Contains(got, "ExampleExample") {
				t.Errorf("a credential is in the report: %s", got)
			}
		})
	}
}

func TestTransportLoadsTheDocument(t *testing.T) {
	t.Parallel()
	fine := exchange{method: "GET", path: "/api/admin/context", status: 200, body: `[]`}
	if got := fine.report(t, openapi.Transport); got != "" {
		t.Errorf("reported: %s", got)
	}
	undeclared := exchange{method: "GET", path: "/api/admin/context", status: 204}
	if got := undeclared.report(t, openapi.Transport); !strings.Contains(got, "status is not declared") {
		t.Errorf("reported %q, want that the status is not declared", got)
	}
}

// An address with a base path is cut off it; what does not begin with it cannot be held against the document.
func TestBasePath(t *testing.T) {
	t.Parallel()
	validator, err := openapi.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/dev/api/admin/context": "", "/dev/x": "must be 404", "/api/admin/context": "does not begin with /dev"} {
		got := exchange{method: "GET", path: path, status: 200, body: `[]`}.report(t, func(base http.RoundTripper, report func(error)) http.RoundTripper {
			return validator.Transport(base, "/dev", report)
		})
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: reported %q, want %q", path, got, want)
		}
	}
}

// report makes the exchange with a server that answers so, and gives what the transport reports.
func (e exchange) report(t *testing.T, transport func(http.RoundTripper, func(error)) http.RoundTripper) string {
	t.Helper()
	header := map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Request-Id": "r", "Content-Type": "application/json"}
	maps.Copy(header, e.header)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent, err := io.ReadAll(r.Body); err != nil || string(sent) != e.sent {
			t.Errorf("the server got %q, %v; want %q", sent, err, e.sent)
		}
		for name, value := range header {
			if value != "" {
				w.Header().Set(name, value)
			}
		}
		w.WriteHeader(e.status)
		_, _ = io.WriteString(w, e.body)
	}))
	defer server.Close()

	request, err := http.NewRequestWithContext(t.Context(), e.method, server.URL+e.path, strings.NewReader(e.sent))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	var reports []string
	client := &http.Client{Transport: transport(server.Client().Transport, func(err error) { reports = append(reports, err.Error()) })}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err := io.ReadAll(response.Body); err != nil || (e.method != http.MethodHead && string(body) != e.body) {
		t.Errorf("the client got %q, %v; want %q", body, err, e.body)
	}
	return strings.Join(reports, "\n")
}
