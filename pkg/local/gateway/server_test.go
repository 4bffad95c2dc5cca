package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

// exchange sends bytes on a connection and returns the first response.
func exchange(tb testing.TB, address, sent string) (status int, body string, closed bool) {
	tb.Helper()
	conn, err := new(net.Dialer).DialContext(tb.Context(), "tcp", address)
	assert.OK(tb, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // shorter than the server's timeouts
	if _, err := io.WriteString(conn, sent); err != nil {
		tb.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	assert.OK(tb, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Error(err)
	}
	return response.StatusCode, string(content), response.Close
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := newService(returns(ok), returns(allowAll))
	eventSize := 0
	s.Functions["Thing"].Handler = handler(func(_ context.Context, payload []byte) ([]byte, error) {
		eventSize = len(payload)
		return []byte(ok), nil
	})
	s.send(t, "POST", "/open", "", "X: ")
	largest := 6*1024*1024 - eventSize
	path := 1600 - len("arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/POST/things/")
	const tooLong, payload = `application/json {"message":"Request Too Long"}`,
		"text/plain HTTP content length exceeded 10485760 bytes."
	for _, tt := range []struct {
		name, target string
		body         int
		header       string
		line, want   string
	}{
		{"event", "/open", largest, "", "200 - -", "application/json ok"},
		{"event too large", "/open", largest + 1, "", "413 REQUEST_TOO_LARGE -", tooLong},
		{"payload", "/open", 10 * 1024 * 1024, "", "413 REQUEST_TOO_LARGE -", tooLong},
		{"payload too large", "/open", 10*1024*1024 + 1, "", "413 REQUEST_TOO_LARGE -", payload},
		{"headers", "/open", 0, strings.Repeat("a", 10240-len("Host"+"example.com"+"X")), "200 - -", "application/json ok"},
		{"headers too large", "/open", 0, strings.Repeat("a", 10241-len("Host"+"example.com"+"X")), "431 - -",
			`application/json {"message":"Request Header Fields Too Large"}`},
		{"method ARN", "/things/" + strings.Repeat("a", path), 0, "", "200 - user:1", "application/json ok"},
		{"method ARN too long", "/things/" + strings.Repeat("a", path+1), 0, "", "414 DEFAULT_4XX -", "application/json 4"},
	} {
		w := s.send(t, "POST", tt.target, strings.Repeat("a", tt.body), "X: "+tt.header)
		equal(t, tt.name, s.lines[len(s.lines)-1], tt.line)
		equal(t, tt.name, w.Header().Get("Content-Type")+" "+w.Body.String(), tt.want)
	}
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	address := newService(returns(ok), nil).listen(t, nil)
	for _, row := range table.Rows(t, 2, `
		# request; an empty line follows | status
		GET /open HTTP/1.0\r\n | 400
		OPTIONS * HTTP/1.1\r\nHost: x\r\n | 400
		CONNECT x:443 HTTP/1.1\r\nHost: x\r\n | 400
		POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz | 400
		POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000\r\n | 413
		POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 11534336\r\n\r\n11MB | 413
		POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb00000\r\n11MB\r\n0\r\n | 413
		POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 11534336\r\nExpect: 100-continue\r\n | 413
		POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n | 501
		GET /open HTTP/3.0\r\nHost: x\r\n | 505
		GET /open HTTP/1.1\r\nHost: x\r\nX: 200kB\r\n | 431
	`) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			sent := strings.NewReplacer(`\r\n`, "\r\n", "11MB", strings.Repeat("a", 11<<20), "200kB",
				strings.Repeat("a", 200_000)).Replace(row[0])
			status, body, _ := exchange(t, address, sent+"\r\n")
			equal(t, body, strconv.Itoa(status), row[1])
		})
	}
}

func TestServerLimits(t *testing.T) {
	t.Parallel()
	server := gateway.NewServer(nil)
	for name, limit := range map[string]time.Duration{
		"ReadHeaderTimeout": server.ReadHeaderTimeout, "ReadTimeout": server.ReadTimeout,
		"WriteTimeout": server.WriteTimeout, "IdleTimeout": server.IdleTimeout,
	} {
		if limit <= 0 || limit > 3*time.Minute {
			t.Errorf("%s is %s", name, limit)
		}
	}
	if server.WriteTimeout < server.ReadTimeout+2*29*time.Second {
		t.Error("WriteTimeout ends a request with a slow body, a slow authorizer and a slow function")
	}
}

func TestSlowBody(t *testing.T) {
	t.Parallel()
	address := newService(returns(ok), nil).listen(t, func(s *http.Server) { s.ReadTimeout = 100 * time.Millisecond })
	status, _, closed := exchange(t, address, "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
	if status != http.StatusRequestTimeout || !closed {
		t.Errorf("status %d, connection closed: %t", status, closed)
	}
}
