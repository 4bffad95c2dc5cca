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
	lifetime = "PUT /api/admin/feature-types/release/lifetime"
	feedback = "PUT /api/admin/feedback/x"
	tokens   = "POST /api/admin/service-account/4/token"
	remove   = "DELETE /api/admin/user/tokens/1"
	list     = "GET /api/admin/context"
	unknown  = "GET /x"

	notFoundBody = `{"id":"0b9b5f5e-7d0e-4c1c-8a55-2d7b1f0f9a06","name":"NotFoundError","message":"Not there."}`
	typeBody     = `{"id":"release","name":"Release","description":"New.","lifetimeDays":30}`
	feedbackBody = `{"feedbackId":"x","userId":1,"neverShow":true,"given":null}`
	newToken     = `{"description":"d","expiresAt":"2099-11-20t05:39:00z"}`
	tokenBody    = `{"id":1,"secret":"user:v2_AAAAAAAAAAQAAAAAAAAADA_ExampleExampleExampleExampleExampleExampleE",` +
		`"userId":4,` +
		`"description":"d","createdAt":"2026-11-20T05:39:00.000Z","seenAt":null,"expiresAt":"2099-11-20T05:39:00.000Z"}`
	location = "http://127.0.0.1:3000/dev/api/admin/service-account/4/token/1"
)

// headers changes the headers that all responses have; "" removes one.
type headers map[string]string

func named(name string) string { return strings.Replace(notFoundBody, "NotFoundError", name, 1) }

func TestTransport(t *testing.T) {
	t.Parallel()
	validator, err := openapi.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, request, sent string
		status              int
		headers             headers
		body                string
		want                string // part of the report; empty: no report
	}{
		{"a valid exchange", lifetime, `{"lifetimeDays":30}`, 200, nil, typeBody, ""},
		{"a trailing slash and a query", list + "/?a=b", "", 200, nil, `[]`, ""},
		{"an encoded slash", "PUT /api/admin/feedback/a%2Fb", `{}`, 200, nil, feedbackBody, ""},
		{"an invalid request that is refused", lifetime, `{"lifetimeDays":"x"`, 400, nil, named("ValidationError"), ""},
		{"an unknown path", unknown, "", 404, nil, notFoundBody, ""},
		{"an unknown method", "PATCH /api/admin/context", "", 404, nil, notFoundBody, ""},
		{"HEAD has no body", "HEAD /api/admin/context", "", 404, nil, "", ""},
		{"no body", remove, "", 200, nil, "", ""},
		{"API Gateway's own 413", list, "", 413, headers{"Cache-Control": "", "X-Request-Id": ""},
			`{"message":"Request Too Long"}`, ""},
		{"API Gateway's own 413 as text", list, "", 413, headers{"Content-Type": "text/plain"}, `Too long.`, ""},
		{"API Gateway's own 431", list, "", 431, nil, ``, ""},
		{"API Gateway's own 414", list + strings.Repeat("x", 1500), "", 414, nil, ``, ""},
		{"a location", tokens, newToken, 201, headers{"Location": location}, tokenBody, ""},

		{"an undeclared status", list, "", 418, nil, `[]`, "status is not declared"},
		{"404 where the operation has none", list, "", 404, nil, notFoundBody, "status is not declared"},
		{"414 for a short URL", list, "", 414, nil, notFoundBody, "status is not declared"},
		{"success for an unknown path", unknown, "", 200, nil, `{}`, "must be 404"},
		{"success for a doubled slash", "GET /api//admin/context", "", 200, nil, `[]`, "must be 404"},
		{"404 without the error object", unknown, "", 404, nil, `{"message":"Not Found"}`, "missing properties 'id', 'name'"},
		{"a fourth member in an error", unknown, "", 404, nil, strings.Replace(notFoundBody, "{", `{"details":[],`, 1),
			"'details' not allowed"},
		{"the name of another status", lifetime, `{}`, 400, nil, notFoundBody, "must be 'ValidationError'"},
		{"a missing member", lifetime, `{"lifetimeDays":30}`, 200, nil, `{"id":"release","name":"R","lifetimeDays":1}`,
			"missing property 'description'"},
		{"another type", feedback, `{}`, 200, nil, strings.Replace(feedbackBody, "1", `"1"`, 1), "got string, want integer"},
		{"a time without milliseconds", feedback, `{}`, 200, nil,
			strings.Replace(feedbackBody, "null", `"2026-11-20T05:39:00Z"`, 1),
			"does not match pattern"},
		{"no JSON", list, "", 200, nil, `[`, "not JSON"},
		{"a body where none is declared", remove, "", 200, nil, `{}`, "2 bytes instead of 0"},
		{"success for an invalid body", lifetime, `{"lifetimeDays":-1}`, 200, nil, typeBody, "request is invalid"},
		{"success for no body", lifetime, "", 200, nil, typeBody, "request is invalid"},
		{"success for an invalid parameter", "GET /api/admin/metrics/traffic/2026-13", "", 200, nil,
			`{"period":"2026-12","apiData":[]}`,
			"parameter period"},
		{"success for a month of the year 0", "GET /api/admin/metrics/traffic/0000-12", "", 200, nil,
			`{"period":"2026-12","apiData":[]}`,
			"parameter period"},
		{"a missing header", list, "", 200, headers{"X-Request-Id": ""}, `[]`, "X-Request-Id is missing"},
		{"an invalid header", list, "", 200, headers{"Cache-Control": "private"}, `[]`, "header Cache-Control"},
		{"no location", tokens, newToken, 201, nil, tokenBody, "Location is missing"},
		{"another content type", list, "", 200, headers{"Content-Type": "text/plain"}, `[]`, "content type"},
		{"401 without WWW-Authenticate", list, "", 401, nil, named("AuthenticationRequired"), "WWW-Authenticate is missing"},
		{"no credential in a report", tokens, newToken, 201, headers{"Location": location},
			strings.Replace(tokenBody, "E\"", "\"", 1),
			"v2_[redacted]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if sent, err := io.ReadAll(r.Body); err != nil || string(sent) != tt.sent {
					t.Errorf("the server received %q, %v; want %q", sent, err, tt.sent)
				}
				all := headers{
					"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Request-Id": "r",
					"Content-Type": "application/json",
				}
				maps.Copy(all, tt.headers)
				for name, value := range all {
					if value != "" {
						w.Header().Set(name, value)
					}
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			var report string
			transport := validator.Transport(server.Client().Transport, "/dev", func(err error) { report += err.Error() })
			method, path, _ := strings.Cut(tt.request, " ")
			request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/dev"+path, strings.NewReader(tt.sent))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json; charset=utf-8")
			response, err := (&http.Client{Transport: transport}).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if body, err := io.ReadAll(response.Body); err != nil || string(body) != tt.body {
				t.Errorf("the client received %q, %v; want %q", body, err, tt.body)
			}
			if (tt.want == "") != (report == "") || !strings.Contains(report, tt.want) ||
				strings.Contains(report, "ExampleExample") {
				t.Errorf("report %q, want %q", report, tt.want)
			}
		})
	}
}
