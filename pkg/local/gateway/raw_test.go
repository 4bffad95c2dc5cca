package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial connects to a server's port; nothing on it may take longer than 20 seconds.
func dial(tb testing.TB, base string) net.Conn {
	tb.Helper()
	var d net.Dialer
	conn, err := d.DialContext(tb.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		tb.Fatalf("dial: %v", err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		tb.Fatalf("set deadline: %v", err)
	}
	return conn
}

// wantOK sends a request line with a Host header, as it is, and wants status 200.
func wantOK(tb testing.TB, base, line string) {
	tb.Helper()
	conn := dial(tb, base)
	if _, err := fmt.Fprintf(conn, "%s\r\nHost: x\r\nConnection: close\r\n\r\n", line); err != nil {
		tb.Fatalf("send: %v", err)
	}
	if got := answerOn(tb, conn); got.StatusCode != http.StatusOK {
		tb.Errorf("%s: status %d", line, got.StatusCode)
	}
}

// answerOn reads an answer to its end.
func answerOn(tb testing.TB, conn io.Reader) reply {
	tb.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		tb.Fatalf("read the answer: %v", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatalf("read the answer's body: %v", err)
	}
	return reply{response, string(text)}
}

func TestAnyBytesGetAnAnswer(t *testing.T) {
	t.Parallel()
	base := newSetup(says(ok), says(allowAll)).start(t)
	for _, tt := range []struct {
		name, bytes string
		status      int // 0: closed, or any
	}{
		{"Rubbish", "\x00\x01\x02\r\n\r\n", 400},
		{"NoHost", "GET /open HTTP/1.1\r\n\r\n", 400},
		{"HTTP10", "GET /open HTTP/1.0\r\n\r\n", 200},
		{"BadEscape", "GET /open/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"HalfEscape", "GET /open/% HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"ControlCharacterInThePath", "GET /open/\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"RawBytesInThePath", "GET /open/\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200},
		{"OptionsStar", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
		{"Connect", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
		{"BadChunk", "POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		{"TwoLengths", "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", 400},
		{"NegativeLength", "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
		{"HugeLength", "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000\r\n\r\n", 413},
		{"UnknownExpectation", "POST /open HTTP/1.1\r\nHost: x\r\nExpect: coffee\r\nContent-Length: 1\r\n\r\na", 417},
		{"UnknownCoding", "POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
		{"UnknownVersion", "GET /open HTTP/3.0\r\nHost: x\r\n\r\n", 400},
		{"HTTP2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0},
		{"TLSHello", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + strings.Repeat("\x00", 100) + "\r\n\r\n", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, base)
			if _, err := io.WriteString(conn, tt.bytes); err != nil {
				t.Fatalf("send: %v", err)
			}
			if tt.status == 0 {
				if _, err := io.Copy(io.Discard, conn); err != nil {
					t.Fatalf("neither answered nor closed: %v", err)
				}
				return
			}
			if got := answerOn(t, conn); got.StatusCode != tt.status {
				t.Errorf("status %d, want %d; body %s", got.StatusCode, tt.status, got.text)
			}
		})
	}
	wantOK(t, base, "GET /open HTTP/1.1")
}

func TestServerBoundsEveryPhase(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	for name, limit := range map[string]time.Duration{
		"ReadHeaderTimeout": server.ReadHeaderTimeout, "ReadTimeout": server.ReadTimeout,
		"WriteTimeout": server.WriteTimeout, "IdleTimeout": server.IdleTimeout,
	} {
		if limit <= 0 || limit > 3*time.Minute {
			t.Errorf("%s is %s", name, limit)
		}
	}
	if server.WriteTimeout < server.ReadTimeout+2*29*time.Second {
		t.Error("WriteTimeout cuts off a slow body with a slow authorizer and a slow function")
	}
}

func TestSlowBodyIsAnsweredAndClosed(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.ReadTimeout = 200 * time.Millisecond
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	conn := dial(t, listener.Addr().String())
	if _, err := io.WriteString(conn, "POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"); err != nil {
		t.Fatalf("send: %v", err)
	}
	r := answerOn(t, conn)
	wantStatus(t, r, http.StatusRequestTimeout)
	if !r.Close {
		t.Error("the connection stays open")
	}
}
