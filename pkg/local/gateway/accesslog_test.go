package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local/terminal"
	"toggleadmin/test/helper/assert"
)

// everyVariable is a format with every variable that is supported.
const everyVariable = `{"extendedRequestId":"$context.extendedRequestId", "requestId":"$context.requestId", ` +
	`"time":"$context.requestTimeEpoch", "path":"$context.resourcePath", "status":"$context.status", ` +
	`"latency":"$context.responseLatency", "principal":"$context.authorizer.principalId", ` +
	`"error":"$context.error.responseType", "ip":"$context.identity.sourceIp"}`

func TestAccessLogLine(t *testing.T) {
	t.Parallel()
	s := newService()
	s.API.AccessLogFormat = everyVariable
	clock := s.Now()
	s.Now = func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	s.send(t, "PUT /things/7 x-amzn-RequestId: "+chosenUUID, "") // reads the clock four times
	s.send(t, "GET /nothing/7 x-amzn-RequestId: "+chosenUUID, "")
	want := []string{
		`{"extendedRequestId":"AEAAgAAAAAAAAAE=", "requestId":"` + chosenUUID +
			`", "time":"1783711144837", "path":"/things/{id}", ` +
			`"status":"200", "latency":"3", "principal":"user:1", "error":"-", "ip":"192.0.2.1"}`,
		`{"extendedRequestId":"AEAAgAAAAAAAAAQ=", "requestId":"` + chosenUUID + `", "time":"1783711144841", "path":"-", ` +
			`"status":"403", "latency":"1", "principal":"-", "error":"MISSING_AUTHENTICATION_TOKEN", "ip":"192.0.2.1"}`,
	}
	assert.Equal(t, want, s.lines)
}

// TestClientsCannotForgeLines sends texts that would add properties to a line, replace properties, end it, or push
// properties beyond its end.
func TestClientsCannotForgeLines(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^{"extendedRequestId":"[\w=-]{16}", "requestId":"[0-9a-f-]{36}", "time":"\d{13}", ` +
		`"path":"(/things/{id}|-)", ` +
		`"status":"(\d{3})", "latency":"\d+", "principal":"(user:1|-)", "error":"([A-Z_]+|-)", "ip":"192\.0\.2\.1"}$`)
	for place := range strings.FieldsSeq("method path query protocol host X-HTTP-Method-Override x-amzn-RequestId " +
		"Authorization X-Forwarded-For User-Agent X-Amzn-Trace-Id X-Amz-Apigw-Id") {
		for _, text := range []string{
			`"`,
			`\`,
			"\x00\t\n\x1b\x7f",
			"\xff",
			"$context.status",
			`x","a":"b`,
			`x","status":"200`,
			`x"}{"a":"b`,
			`x"}` + strings.Repeat(" ", 1024),
			strings.Repeat("x", 1024),
			"%22,%22status%22:%22200",
		} {
			s := newService()
			s.API.AccessLogFormat = everyVariable
			at := func(name, otherwise string) string {
				if name == place {
					return text
				}
				return otherwise
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.Method, r.Proto, r.Host = at("method", "GET"), at("protocol", "HTTP/1.1"), at("host", "x")
			r.RequestURI = "/things/" + at("path", "7") + "?" + at("query", "")
			r.Header.Set(place, text)
			s.gateway(t).ServeHTTP(httptest.NewRecorder(), r)
			if got := form.FindStringSubmatch(s.lines[0]); got == nil || got[2] != fmt.Sprint(s.records[0].Status) {
				t.Errorf("%s %q: status %d: %s", place, text, s.records[0].Status, s.lines[0])
			}
		}
	}
}

func TestAccessLogLineIsCut(t *testing.T) {
	t.Parallel()
	s := newService()
	s.API.AccessLogFormat = "$context.requestId/" + strings.Repeat("a", 2000)
	s.send(t, "GET /open", "")
	assert.Equal(t, 1024, len(s.lines[0]))
}

func TestAccessLogPrecedesTheResponse(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/open", "/nothing"} {
		s, w := newService(), httptest.NewRecorder()
		w.Code = 0
		whenLogged, whenRecorded := -1, -1
		s.AccessLog = func([]byte, time.Time) { whenLogged = w.Code }
		s.OnRequest = func(r *terminal.Entry) { whenRecorded = w.Code - r.Status }
		s.gateway(t).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		assert.Equal(t, []int{0, 0}, []int{whenLogged, whenRecorded})
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	s := newService()
	s.send(t, "GET /open/a%20b?x=1 X-HTTP-Method-Override: PUT", "fail")
	if want := (terminal.Entry{Method: "GET", Path: "/open/a%20b", Status: 502, Function: "thing",
		ID: "00000000-0000-4000-8000-000000000002", Cause: errFunction}); *s.records[0] != want {
		t.Errorf("record %+v, want %+v", *s.records[0], want)
	}
}
