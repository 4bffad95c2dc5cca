package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	s := newService()
	s.send(t, "POST /open", "a")
	largest := 6*1024*1024 - len(s.events[0]) + 1
	s.run(t, strings.NewReplacer("LARGEST+1", strconv.Itoa(largest+1), "LARGEST", strconv.Itoa(largest)).Replace(`
		POST /open | LARGEST×a | 200 - - | ok |
		POST /open | LARGEST+1×a | 413 REQUEST_TOO_LARGE - | {"message":"Request Too Long"} | Content-Type=application/json
		POST /open | 10485760×a | 413 REQUEST_TOO_LARGE - | {"message":"Request Too Long"} | Content-Type=application/json
		POST /open | 10485761×a | 413 REQUEST_TOO_LARGE - | HTTP content length exceeded 10485760 bytes. | Content-Type=text/plain
		# with Host and example.com
		GET /open X: 10224×a | | 200 - - | ok |
		GET /open X: 10225×a | | 431 - - | {"message":"Request Header Fields Too Large"} | Content-Type=application/json
		# the method ARN has 70 more characters
		GET /things/1530×a | | 200 - user:1 | ok |
		GET /things/1531×a | | 414 DEFAULT_4XX - | 4 | Content-Type=application/json
	`))
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 3, `
		# limit for the body | request; an empty line follows | status
		1m | GET /open HTTP/1.0\r\n | 400
		1m | OPTIONS * HTTP/1.1\r\nHost: x\r\n | 400
		1m | GET /open HTTP/1.1\r\nX: y\r\n | 400
		1m | GET /open HTTP/1.1\r\nHost: x\r\nHost: y\r\n | 400
		1m | GET /open HTTP/1.1\r\nHost: x\r\nX : y\r\n | 400
		1m | GET /open HTTP/1.1\r\nHost: x\r\nExpect: coffee\r\n | 417
		1m | GET /%zz HTTP/1.1\r\nHost: x\r\n | 400
		1m | POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n | 400
		1m | CONNECT x:443 HTTP/1.1\r\nHost: x\r\n | 400
		1m | POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz | 400
		1m | POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000\r\n | 413
		1m | POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 11534336\r\n\r\n11534336×a | 413
		1m | POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb00000\r\n11534336×a\r\n0\r\n | 413
		1m | POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 11534336\r\nExpect: 100-continue\r\n | 413
		1m | POST /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n | 501
		1m | GET /open HTTP/3.0\r\nHost: x\r\n | 505
		1m | GET /open HTTP/1.1\r\nHost: x\r\nX: 200000×a\r\n | 431
		100ms | POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na | 408
	`) {
		t.Run(fmt.Sprintf("%.80s", row[1]), func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(nil)
			server.Config = gateway.NewServer(newService().gateway(t))
			var err error
			server.Config.ReadTimeout, err = time.ParseDuration(row[0])
			assert.OK(t, err)
			server.Start()
			defer server.Close()
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			assert.OK(t, err)
			defer conn.Close()
			assert.OK(t, conn.SetDeadline(time.Now().Add(20*time.Second))) // shorter than the server's timeouts
			_, err = io.WriteString(conn, strings.ReplaceAll(row[1], `\r\n`, "\r\n")+"\r\n")
			assert.OK(t, err)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			assert.OK(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			assert.OK(t, err)
			if strconv.Itoa(response.StatusCode) != row[2] || row[2] == "408" && !response.Close {
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
