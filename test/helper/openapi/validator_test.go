package openapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/openapi"
)

func TestTransport(t *testing.T) {
	t.Parallel()
	validator, err := openapi.Load()
	assert.OK(t, err)
	const token = `{"id":1,"secret":"user:v2_AAAAAAAAAAQAAAAAAAAADA_ExampleExampleExampleExampleExampleExampleE","userId":4,` +
		`"description":"d","createdAt":"2026-11-20T05:39:00.000Z","seenAt":null,"expiresAt":"2099-11-20T05:39:00.000Z"}`
	const (
		lifetime = "PUT /api/admin/feature-types/release/lifetime"
		list     = "GET /api/admin/context"
		remove   = "DELETE /api/admin/user/tokens/1"
		newToken = `{"description":"d","expiresAt":"2099-11-20t05:39:00z"}`
		location = "Location: http://127.0.0.1:3000/dev/api/admin/service-account/4/token/1"
		begin    = `{"id":"0b9b5f5e-7d0e-4c1c-8a55-2d7b1f0f9a06","message":"Not there.","name":` // of an error
		typ      = `{"id":"release","name":"Release","description":"New.","lifetimeDays":30}`
	)
	short := strings.Replace(token, `E"`, `"`, 1)
	for _, test := range []struct {
		request  string
		body     string
		status   int
		headers  string // of the response
		response string
		want     string // part of the report; none: no report
	}{
		{lifetime, `{"lifetimeDays":30}`, 200, "", typ, ""},
		{list + "/?a=b", "", 200, "", "[]", ""},
		{"PUT /api/admin/feedback/a%2Fb", "{}", 200, "", `{"feedbackId":"x","userId":1,"neverShow":true,"given":null}`, ""},
		// an invalid request that is refused
		{lifetime, `{"lifetimeDays":"x"`, 400, "", begin + `"ValidationError"}`, ""},
		{"GET /x", "", 404, "", begin + `"NotFoundError"}`, ""},
		{"PATCH /api/admin/context", "", 404, "", begin + `"NotFoundError"}`, ""},
		{"HEAD /api/admin/context", "", 404, "", "", ""},
		{remove, "", 200, "", "", ""},
		// API Gateway's own errors
		{list, "", 413, "Cache-Control: ; X-Request-Id:", `{"message":"Request Too Long"}`, ""},
		{list, "", 413, "Content-Type: text/plain", "Too long.", ""},
		{list, "", 431, "", "", ""},
		{list + strings.Repeat("x", 1500), "", 414, "", "", ""},
		{"POST /api/admin/service-account/4/token", newToken, 201, location, token, ""},

		{list, "", 418, "", "[]", "status is not declared"},
		{list, "", 404, "", begin + `"NotFoundError"}`, "status is not declared"},
		{list, "", 414, "", begin + `"NotFoundError"}`, "status is not declared"},
		{"GET /x", "", 200, "", "{}", "must be 404"},
		{"GET /api//admin/context", "", 200, "", "[]", "must be 404"},
		{"GET /x", "", 404, "", `{"message":"Not Found"}`, "missing properties 'id', 'name'"},
		{"GET /x", "", 404, "", begin + `"NotFoundError","other":[]}`, "'other' not allowed"},
		{lifetime, "{}", 400, "", begin + `"NotFoundError"}`, "must be 'ValidationError'"},
		{
			request:  lifetime,
			body:     `{"lifetimeDays":30}`,
			status:   200,
			response: `{"id":"release","name":"R","lifetimeDays":1}`,
			want:     "missing property 'description'",
		},
		{
			request:  "PUT /api/admin/feedback/x",
			body:     "{}",
			status:   200,
			response: `{"feedbackId":"x","userId":"1","neverShow":true,"given":null}`,
			want:     "got string, want integer",
		},
		{
			request:  "PUT /api/admin/feedback/x",
			body:     "{}",
			status:   200,
			response: `{"feedbackId":"x","userId":1,"neverShow":true,"given":"2026-11-20T05:39:00Z"}`,
			want:     "does not match pattern",
		},
		{list, "", 200, "", "[", "not JSON"},
		{remove, "", 200, "", "{}", "2 bytes instead of 0"},
		{lifetime, `{"lifetimeDays":-1}`, 200, "", typ, "request is invalid"},
		{lifetime, "", 200, "", typ, "request is invalid"},
		{"GET /api/admin/metrics/traffic/2026-13", "", 200, "", `{"period":"2026-12","apiData":[]}`, "parameter period"},
		{"GET /api/admin/metrics/traffic/0000-12", "", 200, "", `{"period":"2026-12","apiData":[]}`, "parameter period"},
		{list, "", 200, "X-Request-Id:", "[]", "X-Request-Id is missing"},
		{list, "", 200, "Cache-Control: private", "[]", "header Cache-Control"},
		{"POST /api/admin/service-account/4/token", newToken, 201, "", token, "Location is missing"},
		{list, "", 200, "Content-Type: text/plain", "[]", "content type"},
		{list, "", 401, "", begin + `"AuthenticationRequired"}`, "WWW-Authenticate is missing"},
		// no credential in a report
		{"POST /api/admin/service-account/4/token", newToken, 201, location, short, "v2_[redacted]"},
	} {
		t.Run(test.request+" "+test.want, func(t *testing.T) {
			t.Parallel()
			sent, answered, want := test.body, test.response, test.want
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got, err := io.ReadAll(r.Body); err != nil || string(got) != sent {
					t.Errorf("the server received %q, %v; want %q", got, err, sent)
				}
				headers := "Cache-Control: no-store; X-Content-Type-Options: nosniff; X-Request-Id: r; " +
					"Content-Type: application/json; " + test.headers
				for header := range strings.SplitSeq(headers, "; ") {
					name, value, _ := strings.Cut(header, ":")
					if w.Header().Set(name, strings.TrimSpace(value)); strings.TrimSpace(value) == "" {
						w.Header().Del(name)
					}
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, answered)
			}))
			defer server.Close()
			var report string
			transport := validator.Transport(server.Client().Transport, "/dev", func(err error) { report += err.Error() })
			method, path, _ := strings.Cut(test.request, " ")
			request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/dev"+path, strings.NewReader(sent))
			assert.OK(t, err)
			request.Header.Set("Content-Type", "application/json; charset=utf-8")
			response, err := (&http.Client{Transport: transport}).Do(request)
			assert.OK(t, err)
			defer response.Body.Close()
			if body, err := io.ReadAll(response.Body); err != nil || string(body) != answered {
				t.Errorf("the client received %q, %v; want %q", body, err, answered)
			}
			if (want == "") != (report == "") || !strings.Contains(report, want) ||
				strings.Contains(report, "ExampleExample") {
				t.Errorf("report %q, want %q", report, want)
			}
		})
	}
}
