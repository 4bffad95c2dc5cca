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

func TestAccessLogPrecedesTheResponse(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/open", "/nothing"} {
		s, w := newService(returns(ok), nil), httptest.NewRecorder()
		w.Code = 0
		var whenLogged, whenRecorded int
		s.AccessLog = func([]byte, time.Time) { whenLogged = w.Code }
		s.OnRequest = func(r gateway.Record) { whenRecorded = w.Code - r.Status }
		s.gateway(t).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		if w.Code == 0 || whenLogged != 0 || whenRecorded != 0 {
			t.Errorf("%s: status %d, %d when the line is written, %d off when it is recorded", target, w.Code, whenLogged, whenRecorded)
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
	want := gateway.Record{
		Method: "GET", Path: "/open/a%20b", Status: 502, Function: "thing", RequestID: "00000000-0000-4000-8000-000000000002",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}
