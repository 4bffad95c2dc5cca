package openapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/test/assert"
	"toggleadmin/test/openapi"
	"toggleadmin/test/table"
)

func TestTransport(t *testing.T) {
	t.Parallel()
	validator, err := openapi.Load()
	assert.OK(t, err)
	const token = `"secret":"user:v2_AAAAAAAAAAQAAAAAAAAADA_ExampleExampleExampleExampleExampleExampleE","userId":4,` +
		`"description":"d","createdAt":"2026-11-20T05:39:00.000Z","seenAt":null,"expiresAt":"2099-11-20T05:39:00.000Z"}`
	for _, row := range table.Rows(t, 6, strings.NewReplacer(
		"LIFETIME", "PUT /api/admin/feature-types/release/lifetime", "LIST", "GET /api/admin/context", "1500x",
		strings.Repeat("x", 1500), "REMOVE", "DELETE /api/admin/user/tokens/1",
		"NEW-TOKEN", `POST /api/admin/service-account/4/token | {"description":"d","expiresAt":"2099-11-20t05:39:00z"} | 201`,
		"LOCATION", "Location: http://127.0.0.1:3000/dev/api/admin/service-account/4/token/1", "ERROR",
		`{"id":"0b9b5f5e-7d0e-4c1c-8a55-2d7b1f0f9a06","message":"Not there.","name":`,
		"TYPE", `{"id":"release","name":"Release","description":"New.","lifetimeDays":30}`,
		"TOKEN", `{"id":1,`+token, "SHORT", `{"id":1,`+strings.Replace(token, `E"`, `"`, 1)).Replace(`
		# request | sent body | status | headers | body | part of the report; none: no report
		LIFETIME | {"lifetimeDays":30} | 200 | | TYPE |
		LIST/?a=b | | 200 | | [] |
		PUT /api/admin/feedback/a%2Fb | {} | 200 | | {"feedbackId":"x","userId":1,"neverShow":true,"given":null} |
		# an invalid request that is refused
		LIFETIME | {"lifetimeDays":"x" | 400 | | ERROR"ValidationError"} |
		GET /x | | 404 | | ERROR"NotFoundError"} |
		PATCH /api/admin/context | | 404 | | ERROR"NotFoundError"} |
		HEAD /api/admin/context | | 404 | | |
		REMOVE | | 200 | | |
		# API Gateway's own errors
		LIST | | 413 | Cache-Control: ; X-Request-Id: | {"message":"Request Too Long"} |
		LIST | | 413 | Content-Type: text/plain | Too long. |
		LIST | | 431 | | |
		LIST1500x | | 414 | | |
		NEW-TOKEN | LOCATION | TOKEN |

		LIST | | 418 | | [] | status is not declared
		LIST | | 404 | | ERROR"NotFoundError"} | status is not declared
		LIST | | 414 | | ERROR"NotFoundError"} | status is not declared
		GET /x | | 200 | | {} | must be 404
		GET /api//admin/context | | 200 | | [] | must be 404
		GET /x | | 404 | | {"message":"Not Found"} | missing properties 'id', 'name'
		GET /x | | 404 | | ERROR"NotFoundError","details":[]} | 'details' not allowed
		LIFETIME | {} | 400 | | ERROR"NotFoundError"} | must be 'ValidationError'
		LIFETIME | {"lifetimeDays":30} | 200 | | {"id":"release","name":"R","lifetimeDays":1} | missing property 'description'
		PUT /api/admin/feedback/x | {} | 200 | | {"feedbackId":"x","userId":"1","neverShow":true,"given":null} | got string, want integer
		PUT /api/admin/feedback/x | {} | 200 | | {"feedbackId":"x","userId":1,"neverShow":true,"given":"2026-11-20T05:39:00Z"} | does not match pattern
		LIST | | 200 | | [ | not JSON
		REMOVE | | 200 | | {} | 2 bytes instead of 0
		LIFETIME | {"lifetimeDays":-1} | 200 | | TYPE | request is invalid
		LIFETIME | | 200 | | TYPE | request is invalid
		GET /api/admin/metrics/traffic/2026-13 | | 200 | | {"period":"2026-12","apiData":[]} | parameter period
		GET /api/admin/metrics/traffic/0000-12 | | 200 | | {"period":"2026-12","apiData":[]} | parameter period
		LIST | | 200 | X-Request-Id: | [] | X-Request-Id is missing
		LIST | | 200 | Cache-Control: private | [] | header Cache-Control
		NEW-TOKEN | | TOKEN | Location is missing
		LIST | | 200 | Content-Type: text/plain | [] | content type
		LIST | | 401 | | ERROR"AuthenticationRequired"} | WWW-Authenticate is missing
		# no credential in a report
		NEW-TOKEN | LOCATION | SHORT | v2_[redacted]
	`)) {
		t.Run(row[0]+" "+row[5], func(t *testing.T) {
			t.Parallel()
			sent, answered, want := row[1], row[4], row[5]
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got, err := io.ReadAll(r.Body); err != nil || string(got) != sent {
					t.Errorf("the server received %q, %v; want %q", got, err, sent)
				}
				headers := "Cache-Control: no-store; X-Content-Type-Options: nosniff; X-Request-Id: r; " +
					"Content-Type: application/json; " + row[3]
				for header := range strings.SplitSeq(headers, "; ") {
					name, value, _ := strings.Cut(header, ":")
					if w.Header().Set(name, strings.TrimSpace(value)); strings.TrimSpace(value) == "" {
						w.Header().Del(name)
					}
				}
				status, _ := strconv.Atoi(row[2])
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answered)
			}))
			defer server.Close()
			var report string
			transport := validator.Transport(server.Client().Transport, "/dev", func(err error) { report += err.Error() })
			method, path, _ := strings.Cut(row[0], " ")
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
