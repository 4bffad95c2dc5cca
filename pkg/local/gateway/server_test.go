package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"

	"toggleadmin/pkg/local/gateway"
)

// exchange sends bytes on a connection and returns the first response and its body; a nil response means that the connection was closed.
func exchange(tb testing.TB, address, sent string) (*http.Response, string) {
	tb.Helper()
	conn, err := new(net.Dialer).DialContext(tb.Context(), "tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.WriteString(conn, sent); err != nil {
		tb.Fatal(err)
	}
	method, _, _ := strings.Cut(sent, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return nil, ""
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return response, string(body)
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
	const tooLong, payload = `{"message":"Request Too Long"}`, "HTTP content length exceeded 10485760 bytes."
	for _, tt := range []struct {
		name, target string
		body         int
		header       string
		line, want   string
	}{
		{"event", "/open", largest, "", "200 - -", "ok"},
		{"event too large", "/open", largest + 1, "", "413 REQUEST_TOO_LARGE -", tooLong},
		{"payload", "/open", 10 * 1024 * 1024, "", "413 REQUEST_TOO_LARGE -", tooLong},
		{"payload too large", "/open", 10*1024*1024 + 1, "", "413 REQUEST_TOO_LARGE -", payload},
		{"headers", "/open", 0, strings.Repeat("a", 10240-len("Host"+"example.com"+"X")), "200 - -", "ok"},
		{"headers too large", "/open", 0, strings.Repeat("a", 10241-len("Host"+"example.com"+"X")), "431 - -",
			`{"message":"Request Header Fields Too Large"}`},
		{"method ARN", "/things/" + strings.Repeat("a", path), 0, "", "200 - user:1", "ok"},
		{"method ARN too long", "/things/" + strings.Repeat("a", path+1), 0, "", "414 DEFAULT_4XX -", "4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := s.send(t, "POST", tt.target, strings.Repeat("a", tt.body), "X: "+tt.header)
			equal(t, "access log", s.lines[len(s.lines)-1], tt.line)
			equal(t, "body", w.Body.String(), tt.want)
			if (w.Header().Get("Content-Type") == "text/plain") != (tt.want == payload) {
				t.Errorf("content type %s", w.Header().Get("Content-Type"))
			}
		})
	}
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	address := newService(returns(ok), nil).listen(t, nil)
	const post = "POST /open HTTP/1.1\r\nHost: x\r\n"
	for _, tt := range []struct {
		name, sent string
		status     int // 0: closed without a response
	}{
		{"garbage", "\x00\x01\x02\r\n\r\n", 400},
		{"no Host", "GET /open HTTP/1.1\r\n\r\n", 400},
		{"HTTP/1.0", "GET /open HTTP/1.0\r\n\r\n", 200},
		{"malformed escape", "GET /open/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"bytes that are not UTF-8", "GET /open/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n", 200},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"CONNECT", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"HEAD", "HEAD /open HTTP/1.1\r\nHost: x\r\n\r\n", 200},
		{"malformed chunk", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		{"9 GB", post + "Content-Length: 9000000000\r\n\r\n", 413},
		{"11 MB", post + "Content-Length: 11534336\r\n\r\n" + strings.Repeat("a", 11<<20), 413},
		{"11 MB in a chunk", post + "Transfer-Encoding: chunked\r\n\r\nb00000\r\n" + strings.Repeat("a", 11<<20) + "\r\n0\r\n\r\n", 413},
		{"11 MB expected", post + "Content-Length: 11534336\r\nExpect: 100-continue\r\n\r\n", 413},
		{"unknown expectation", post + "Expect: coffee\r\nContent-Length: 1\r\n\r\na", 417},
		{"unknown transfer coding", post + "Transfer-Encoding: gzip\r\n\r\n", 400},
		{"unknown version", "GET /open HTTP/3.0\r\nHost: x\r\n\r\n", 400},
		{"headers of 200 KB", "GET /open HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 200_000) + "\r\n\r\n", 431},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			response, body := exchange(t, address, tt.sent)
			if response == nil || response.StatusCode != tt.status {
				t.Errorf("response %+v, want status %d; body %s", response, tt.status, body)
			}
			if tt.name == "HEAD" {
				equal(t, "length and body", response.Header.Get("Content-Length")+body, "2")
			}
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
	response, _ := exchange(t, address, "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
	if response == nil || response.StatusCode != http.StatusRequestTimeout || !response.Close {
		t.Errorf("response %+v", response)
	}
}

func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	s := newService(func(_ context.Context, payload []byte) ([]byte, error) {
		var e events.APIGatewayProxyRequest
		if err := json.Unmarshal(payload, &e); err != nil {
			return nil, err
		}
		return json.Marshal(events.APIGatewayProxyResponse{StatusCode: 200, Body: e.PathParameters["id"] + e.Body})
	}, returns(allowAll))
	s.AccessLog, s.OnRequest = func([]byte, time.Time) {}, func(gateway.Record) {}
	s.NewID = func() string { return chosenUUID }
	address := s.listen(t, nil)
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := range 20 {
				id, body := fmt.Sprintf("%d-%d", client, i), strings.Repeat("a", i*100)
				_, got := exchange(t, address, fmt.Sprintf("PUT /things/%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", id, len(body), body))
				if got != id+body {
					t.Errorf("request %s: response %s", id, got)
				}
			}
		})
	}
	clients.Wait()
}
