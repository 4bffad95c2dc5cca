package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/test/helper/assert"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	s := newService()
	s.send(t, "POST /open", "a")
	largest := 6*1024*1024 - len(s.events[0]) + 1
	a := func(n int) string { return strings.Repeat("a", n) }
	const jsonType = "application/json"
	const tooLong = `{"message":"Request Too Long"}`
	for _, test := range []struct{ request, body, line, response, contentType string }{
		{"POST /open", a(largest), "200 - -", "ok", jsonType},
		{"POST /open", a(largest + 1), "413 REQUEST_TOO_LARGE -", tooLong, jsonType},
		{"POST /open", a(10485760), "413 REQUEST_TOO_LARGE -", tooLong, jsonType},
		{
			"POST /open", a(10485761), "413 REQUEST_TOO_LARGE -",
			"HTTP content length exceeded 10485760 bytes.", "text/plain",
		},
		// with Host and example.com
		{"GET /open X: " + a(10224), "", "200 - -", "ok", jsonType},
		{"GET /open X: " + a(10225), "", "431 - -", `{"message":"Request Header Fields Too Large"}`, jsonType},
		// the method ARN has 70 more characters
		{"GET /things/" + a(1530), "", "200 - user:1", "ok", jsonType},
		{"GET /things/" + a(1531), "", "414 DEFAULT_4XX -", "4", jsonType},
	} {
		headers := s.expect(t, test.request, test.body, test.line, test.response)
		requireHeaders(t, test.request, map[string]string{"Content-Type": test.contentType}, headers)
	}
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		timeout time.Duration // of the body
		request string        // an empty line follows
		status  int
	}{
		{time.Minute, "GET /open HTTP/1.0\r\n", 400},
		{time.Minute, "OPTIONS * HTTP/1.1\r\nHost: x\r\n", 400},
		{time.Minute, "GET /open HTTP/1.1\r\nX: y\r\n", 400},
		{time.Minute, "GET /open HTTP/1.1\r\nHost: x\r\nHost: y\r\n", 400},
		{time.Minute, "GET /open HTTP/1.1\r\nHost: x\r\nX : y\r\n", 400},
		{time.Minute, "GET /open HTTP/1.1\r\nHost: x\r\nExpect: coffee\r\n", 417},
		{time.Minute, "GET /%zz HTTP/1.1\r\nHost: x\r\n", 400},
		{time.Minute, "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n", 400},
		{time.Minute, "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n", 400},
		{time.Minute, "POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz", 400},
		{time.Minute, "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000\r\n", 413},
		{time.Minute, "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 11534336\r\n\r\n" + strings.Repeat("a", 11534336), 413},
		{
			time.Minute,
			"POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb00000\r\n" + strings.Repeat("a", 11534336) + "\r\n0\r\n",
			413,
		},
		{time.Minute, "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 11534336\r\nExpect: 100-continue\r\n", 413},
		{time.Minute, "POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n", 501},
		{time.Minute, "GET /open HTTP/3.0\r\nHost: x\r\n", 505},
		{time.Minute, "GET /open HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 200000) + "\r\n", 431},
		{100 * time.Millisecond, "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na", 408},
	} {
		t.Run(fmt.Sprintf("%.80s", test.request), func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(nil)
			server.Config = gateway.NewServer(newService().gateway(t))
			server.Config.ReadTimeout = test.timeout
			server.Start()
			defer server.Close()
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			assert.OK(t, err)
			defer conn.Close()
			assert.OK(t, conn.SetDeadline(time.Now().Add(20*time.Second))) // shorter than the server's timeouts
			_, err = io.WriteString(conn, test.request+"\r\n")
			assert.OK(t, err)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			assert.OK(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			assert.OK(t, err)
			if response.StatusCode != test.status || test.status == http.StatusRequestTimeout && !response.Close {
				t.Errorf("%d %s, connection closed: %t", response.StatusCode, body, response.Close)
			}
		})
	}
}

func TestServerLimits(t *testing.T) {
	t.Parallel()
	server := gateway.NewServer(nil)
	for _, limit := range []time.Duration{server.ReadHeaderTimeout, server.ReadTimeout, server.WriteTimeout,
		server.IdleTimeout} {
		if limit <= 0 || limit > 3*time.Minute {
			t.Error(limit)
		}
	}
	if server.WriteTimeout < server.ReadTimeout+2*29*time.Second {
		t.Error("WriteTimeout ends a request with a slow body, a slow authorizer and a slow function")
	}
}
