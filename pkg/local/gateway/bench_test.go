package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"toggleadmin/pkg/local/gateway"
)

// BenchmarkServeHTTP measures the gateway's own work for a request with an authorizer and a function that return
// constants.
func BenchmarkServeHTTP(b *testing.B) {
	s := newService(returns(ok), returns(allowAll))
	s.AccessLog, s.OnRequest = func([]byte, time.Time) {}, func(gateway.Record) {}
	g := s.gateway(b)
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/things/7", nil)
	b.ReportAllocs()
	for b.Loop() {
		g.ServeHTTP(httptest.NewRecorder(), r)
	}
}
