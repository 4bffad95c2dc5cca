package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"toggleadmin/pkg/local/gateway"
)

// BenchmarkServeHTTP measures the gateway's own work for a request with an authorizer and a function that return constants.
func BenchmarkServeHTTP(b *testing.B) {
	const response = `{"statusCode":200,"headers":null,"multiValueHeaders":{"Content-Type":["application/json"],"Cache-Control":["no-store"],` +
		`"X-Content-Type-Options":["nosniff"],"X-Request-Id":["7c2af7db-31f3-42b5-8a6d-9ffc74e3b9e0"]},"body":"` +
		`{\"version\":1,\"types\":[{\"id\":\"release\",\"name\":\"Release\",\"description\":\"Release feature toggles\",\"lifetimeDays\":40}]}"}`
	s := newService(returns(response), returns(allowAll))
	s.AccessLog, s.OnRequest = func([]byte, time.Time) {}, func(gateway.Record) {}
	g := s.gateway(b)
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/things/7", nil)
	r.Header.Set("Authorization", "Bearer user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789012345678901234567890123456789012")
	r.Header.Set("User-Agent", "bench/1.0")
	r.Header.Set("Accept", "application/json")
	b.ReportAllocs()
	for b.Loop() {
		g.ServeHTTP(httptest.NewRecorder(), r)
	}
}
