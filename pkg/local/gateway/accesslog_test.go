package gateway_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/gateway"
)

func TestAccessLogLine(t *testing.T) {
	t.Parallel()
	s := newService(returns(ok), returns(allowAll))
	s.API.AccessLogFormat = "$context.extendedRequestId $context.requestId $context.requestTimeEpoch $context.httpMethod " +
		"$context.resourcePath $context.status $context.responseLatency $context.authorizer.principalId $context.error.responseType"
	clock := s.Now()
	s.Now = func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	s.send(t, "PUT", "/things/7", "", "x-amzn-RequestId: "+chosenUUID) // reads the clock four times
	s.send(t, "GET", "/nothing/7", "", "x-amzn-RequestId: "+chosenUUID)
	want := []string{
		"AEAAgAAAAAAAAAE= " + chosenUUID + " 1783711144837 PUT /things/{id} 200 3 user:1 -",
		"AEAAgAAAAAAAAAQ= " + chosenUUID + " 1783711144841 GET - 403 1 - MISSING_AUTHENTICATION_TOKEN",
	}
	if diff := cmp.Diff(want, s.lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
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

// sequence records the order of the line and the parts of the response.
type sequence struct {
	http.ResponseWriter
	steps []string
}

func (s *sequence) Write(b []byte) (int, error) {
	s.steps = append(s.steps, "body")
	return len(b), nil
}

func (s *sequence) WriteHeader(int) { s.steps = append(s.steps, "head") }

func TestAccessLogPrecedesTheResponse(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/open", "/nothing"} {
		s, w := newService(returns(ok), nil), &sequence{ResponseWriter: httptest.NewRecorder()}
		s.AccessLog = func([]byte, time.Time) { w.steps = append(w.steps, "line") }
		s.OnRequest = func(gateway.Record) { w.steps = append(w.steps, "record") }
		s.gateway(t).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		if diff := cmp.Diff([]string{"line", "head", "body", "record"}, w.steps); diff != "" {
			t.Errorf("%s:\n%s", target, diff)
		}
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	s := newService(fails, nil)
	s.send(t, "GET", "/open/a%20b?x=1", "", "X-HTTP-Method-Override: PUT")
	got := s.records[0]
	if !errors.Is(got.Err, errFunction) {
		t.Errorf("cause %v", got.Err)
	}
	got.Err = nil
	want := gateway.Record{Method: "GET", Path: "/open/a%20b", Status: 502, Function: "thing", RequestID: "00000000-0000-4000-8000-000000000002"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}
