package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"

	"toggleadmin/pkg/samtemplate"
)

// discard is a ResponseWriter that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

func benchmarkSetup() *setup {
	const answer = `{"statusCode":200,"headers":{"Content-Type":"application/json; charset=utf-8","Cache-Control":"no-store",` +
		`"X-Content-Type-Options":"nosniff","X-Request-Id":"7c2af7db-31f3-42b5-8a6d-9ffc74e3b9e0"},"multiValueHeaders":null,"body":"` +
		`{\"version\":1,\"types\":[{\"id\":\"release\",\"name\":\"Release\",\"description\":\"Release feature toggles\",\"lifetimeDays\":40},` +
		`{\"id\":\"experiment\",\"name\":\"Experiment\",\"description\":\"Experiment toggles are used to test\",\"lifetimeDays\":40}]}"}`
	const policy = `{"principalId":"user:1","policyDocument":{"Version":"2012-10-17","Statement":[{"Action":["execute-api:Invoke"],` +
		`"Effect":"Allow",` +
		`"Resource":["arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/*"]}]},"context":{"userId":"1","permissions":"ADMIN"}}`
	s := newSetup(says(answer), says(policy))
	s.config.Now = time.Now
	s.config.NewID = uuid.NewString
	s.config.OnRequest = nil
	s.config.AccessLog = func([]byte, time.Time) {}
	s.config.API.AccessLogFormat = logFormat
	s.config.API.Routes = append(s.config.API.Routes, samtemplate.Route{Path: "/{proxy+}", Method: "ANY", Function: "Thing"})
	return s
}

func benchmarkRequest(b *testing.B, path string) *http.Request {
	b.Helper()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
	r.Header.Set("Authorization", "Bearer user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789012345678901234567890123456789012")
	r.Header.Set("User-Agent", "bench/1.0")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Encoding", "gzip")
	return r
}

func benchmarkServe(b *testing.B, path string) {
	b.Helper()
	g := benchmarkSetup().gateway(b)
	r := benchmarkRequest(b, path)
	b.ReportAllocs()
	for b.Loop() {
		g.ServeHTTP(&discard{http.Header{}}, r)
	}
}

// BenchmarkServeAuthorized is the gateway's own work for one request with authorizer and function, both trivial.
func BenchmarkServeAuthorized(b *testing.B) { benchmarkServe(b, "/things/7") }

// BenchmarkServeOpen is the same without an authorizer.
func BenchmarkServeOpen(b *testing.B) { benchmarkServe(b, "/open/7") }

// BenchmarkServeAuthorizedParallel has as many requests at once as processors.
func BenchmarkServeAuthorizedParallel(b *testing.B) {
	g := benchmarkSetup().gateway(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		r := benchmarkRequest(b, "/things/7")
		for pb.Next() {
			g.ServeHTTP(&discard{http.Header{}}, r)
		}
	})
}

// BenchmarkServeHTTP goes over a keep-alive connection, with a client that does next to nothing.
func BenchmarkServeHTTP(b *testing.B) {
	benchmarkHTTP(b, benchmarkSetup().start(b))
}

// BenchmarkNetHTTPAlone is net/http with a handler that answers the same size: what the gateway's part is to be compared with.
func BenchmarkNetHTTPAlone(b *testing.B) {
	body := make([]byte, 300)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
	b.Cleanup(server.Close)
	benchmarkHTTP(b, server.URL)
}

func benchmarkHTTP(b *testing.B, base string) {
	b.Helper()
	conn := dial(b, base)
	if err := conn.SetDeadline(time.Time{}); err != nil {
		b.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	request := []byte("GET /things/7 HTTP/1.1\r\nHost: 127.0.0.1:3000\r\nUser-Agent: bench/1.0\r\nAccept: application/json\r\n" +
		"Accept-Encoding: gzip\r\n" +
		"Authorization: Bearer user:v2_AAAAAAAAAAEAAAAAAAAAAQ_0123456789012345678901234567890123456789012\r\n\r\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
			b.Fatal(err, response.StatusCode)
		}
		_ = response.Body.Close()
	}
}
