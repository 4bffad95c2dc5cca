package gateway_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/gateway"
)

const logFormat = `{"e":"$context.extendedRequestId","id":"$context.requestId","t":"$context.requestTimeEpoch","m":"$context.httpMethod",` +
	`"r":"$context.resourcePath","s":"$context.status","l":"$context.responseLatency","p":"$context.authorizer.principalId",` +
	`"x":"$context.error.responseType","k":"$context.authorizer.key","n":"$context.responseLength","i":"$context.integration.status"}`

func TestAccessLogLine(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(policyOf(`{"Action":"*","Effect":"Allow","Resource":"*"}`, `{"key":"value"}`)))
	s.config.API.AccessLogFormat = logFormat
	clock := s.config.Now()
	s.config.Now = func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	base := s.start(t)
	line := func(id, m, r, status, l, p, x, k, n, i string, at int64) string {
		return fmt.Sprintf(`{"e":"%s","id":"`+chosenUUID+`",`+
			`"t":"%d","m":"%s","r":"%s","s":"%s","l":"%s","p":"%s","x":"%s","k":"%s","n":"%s","i":"%s"}`,
			id, at, m, r, status, l, p, x, k, n, i)
	}
	const chosen = "x-amzn-RequestId: " + chosenUUID
	start := clock.UnixMilli()
	send(t, "PUT", base+"/things/7", "", chosen)  // reads the clock 6 times: begin, authorizer, function, end
	send(t, "GET", base+"/open", "", chosen)      // 4 times
	send(t, "GET", base+"/nothing/7", "", chosen) // 2 times
	want := []string{
		line("AAAAAAAAAAABAAA=", "PUT", "/things/{id}", "200", "5", "user:1", "-", "value", "2", "200", start+1),
		line("AAAAAAAAAAAEAAA=", "GET", "/open", "200", "3", "-", "-", "-", "2", "200", start+7),
		line("AAAAAAAAAAAGAAA=", "GET", "-", "403", "1", "-", "MISSING_AUTHENTICATION_TOKEN", "-", "42", "-", start+11),
	}
	if diff := cmp.Diff(want, s.lines.take()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestAccessLogHasEveryRequest(t *testing.T) {
	t.Parallel()
	s := newSetup(fails(errors.New("boom")), says(allowAll))
	s.config.API.AccessLogFormat = "$context.status $context.error.responseType"
	base := s.start(t)
	send(t, "GET", base+"/open", "")
	send(t, "GET", base+"/open", "", "X-Large: "+strings.Repeat("a", 11000))
	send(t, "POST", base+"/open", strings.Repeat("a", 11<<20))
	if diff := cmp.Diff([]string{"502 DEFAULT_5XX", "431 -", "413 REQUEST_TOO_LARGE"}, s.lines.take()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestAccessLogLineIsCut(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	s.config.API.AccessLogFormat = "$context.path"
	base := s.start(t)
	send(t, "GET", base+"/open/"+strings.Repeat("a", 2000), "")
	if got := s.lines.take(); len(got) != 1 || len(got[0]) != 1024 {
		t.Errorf("lines %q", got)
	}
}

func TestNoFormatNoAccessLog(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	send(t, "GET", s.start(t)+"/open", "")
	if got := s.lines.take(); len(got) != 0 {
		t.Errorf("lines %q", got)
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	s := newSetup(fails(boom), says(allowAll))
	base := s.start(t)
	send(t, "GET", base+"/open/a%20b?x=1", "")
	got := *s.record.Load()
	if !errors.Is(got.Err, boom) {
		t.Errorf("cause %v", got.Err)
	}
	at, _ := time.Parse(time.RFC3339Nano, fixedInstant)
	got.Err = nil
	want := gateway.Record{
		Time: at, Method: "GET", Path: "/open/a%20b", Status: 502, Function: "Thing", RequestID: fmt.Sprintf(fixedUUID, 2),
		ResourcePath: "/open/{id}", ResponseType: "DEFAULT_5XX",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// sequence notes what happens on the way out.
type sequence struct {
	discard
	steps []string
}

func (s *sequence) Write(b []byte) (int, error) {
	s.steps = append(s.steps, "body")
	return len(b), nil
}

func (s *sequence) WriteHeader(int) { s.steps = append(s.steps, "head") }

func TestAccessLogComesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	s.config.API.AccessLogFormat = logFormat
	for _, path := range []string{"/open", "/nothing"} {
		w := &sequence{discard: discard{http.Header{}}}
		s.config.AccessLog = func([]byte, time.Time) { w.steps = append(w.steps, "line") }
		s.gateway(t).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if diff := cmp.Diff([]string{"line", "head", "body"}, w.steps); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
	}
}
