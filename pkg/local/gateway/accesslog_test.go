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
	"toggleadmin/test/assert"
)

// everyVariable is a format with every variable that is supported.
const everyVariable = `{"extendedRequestId":"$context.extendedRequestId", "requestId":"$context.requestId", ` +
	`"time":"$context.requestTimeEpoch", "path":"$context.resourcePath", "status":"$context.status", "latency":"$context.responseLatency", ` +
	`"principal":"$context.authorizer.principalId", "error":"$context.error.responseType", "ip":"$context.identity.sourceIp"}`

func TestAccessLogLine(t *testing.T) {
	t.Parallel()
	s := newService(returns(ok), returns(allowAll))
	s.API.AccessLogFormat = everyVariable
	clock := s.Now()
	s.Now = func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	s.send(t, "PUT", "/things/7", "", "x-amzn-RequestId: "+chosenUUID) // reads the clock four times
	s.send(t, "GET", "/nothing/7", "", "x-amzn-RequestId: "+chosenUUID)
	want := []string{
		`{"extendedRequestId":"AEAAgAAAAAAAAAE=", "requestId":"` + chosenUUID +
			`", "time":"1783711144837", "path":"/things/{id}", ` +
			`"status":"200", "latency":"3", "principal":"user:1", "error":"-", "ip":"192.0.2.1"}`,
		`{"extendedRequestId":"AEAAgAAAAAAAAAQ=", "requestId":"` + chosenUUID + `", "time":"1783711144841", "path":"-", ` +
			`"status":"403", "latency":"1", "principal":"-", "error":"MISSING_AUTHENTICATION_TOKEN", "ip":"192.0.2.1"}`,
	}
	assert.Equal(t, want, s.lines)
}

// TestClientsCannotForgeLines sends texts that would add members to a line, replace members, end it, or push members
// beyond its end.
func TestClientsCannotForgeLines(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^{"extendedRequestId":"[\w=-]{16}", "requestId":"[0-9a-f-]{36}", "time":"\d{13}", ` +
		`"path":"(/things/{id}|-)", ` +
		`"status":"\d{3}", "latency":"\d+", "principal":"(user:1|-)", "error":"([A-Z_]+|-)", "ip":"192\.0\.2\.1"}$`)
	places := map[string]func(r *http.Request, text string){
		"method":   func(r *http.Request, text string) { r.Method = text },
		"path":     func(r *http.Request, text string) { r.RequestURI = "/things/" + text },
		"query":    func(r *http.Request, text string) { r.RequestURI += "?" + text },
		"protocol": func(r *http.Request, text string) { r.Proto = text },
		"host":     func(r *http.Request, text string) { r.Host = text },
	}
	for _, name := range []string{
		"X-HTTP-Method-Override", "x-amzn-RequestId", "Authorization", "X-Forwarded-For", "User-Agent", "X-Amzn-Trace-Id",
		"X-Amz-Apigw-Id",
	} {
		places[name] = func(r *http.Request, text string) { r.Header.Set(name, text) }
	}
	for place, put := range places {
		for name, text := range map[string]string{
			"quote": `"`, "backslash": `\`, "control characters": "\x00\t\n\x1b\x7f", "no UTF-8": "\xff",
			"variable": "$context.status",
			"member":   `x","a":"b`, "duplicate member": `x","status":"200`, "second object": `x"}{"a":"b`,
			"end":  `x"}` + strings.Repeat(" ", 1024),
			"long": strings.Repeat("x", 1024), "escaped": `%22,%22status%22:%22200`,
		} {
			t.Run(place+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newService(returns(ok), returns(allowAll))
				s.API.AccessLogFormat = everyVariable
				request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/things/7", nil)
				put(request, text)
				s.serve(t, request)
				status := fmt.Sprintf(`"status":"%d"`, s.records[0].Status)
				if line := s.lines[0]; !form.MatchString(line) || !strings.Contains(line, status) {
					t.Errorf("status %d: %s", s.records[0].Status, line)
				}
			})
		}
	}
}

func TestAccessLogLineIsCut(t *testing.T) {
	t.Parallel()
	s := newService(returns(ok), nil)
	s.API.AccessLogFormat = "$context.requestId/" + strings.Repeat("a", 2000)
	if s.send(t, "GET", "/open", ""); len(s.lines[0]) != 1024 {
		t.Errorf("%d bytes", len(s.lines[0]))
	}
}

func TestAccessLogPrecedesTheResponse(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/open", "/nothing"} {
		s, w := newService(returns(ok), nil), httptest.NewRecorder()
		w.Code = 0
		var whenLogged, whenRecorded int
		s.AccessLog = func([]byte, time.Time) { whenLogged = w.Code }
		s.OnRequest = func(r *terminal.Entry) { whenRecorded = w.Code - r.Status }
		s.gateway(t).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		if w.Code == 0 || whenLogged != 0 || whenRecorded != 0 {
			t.Errorf("%s: status %d, %d when the line is written, %d off when it is recorded", target, w.Code, whenLogged,
				whenRecorded)
		}
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	s := newService(fails, nil)
	s.send(t, "GET", "/open/a%20b?x=1", "", "X-HTTP-Method-Override: PUT")
	want := terminal.Entry{
		Method: "GET", Path: "/open/a%20b", Status: 502, Function: "thing", ID: "00000000-0000-4000-8000-000000000002",
		Cause: errFunction,
	}
	if got := *s.records[0]; got != want {
		t.Errorf("record %+v, want %+v", got, want)
	}
}
