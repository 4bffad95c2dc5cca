package contract_test

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

// TestSection1_TooLarge: "Functions refuse bodies above 102,400 bytes with our 413 first." "A body that API Gateway itself refuses as too
// large (above 6 to 10 MB) has the gateway's own 413 body."
func TestSection1_TooLarge(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	for _, op := range operations() {
		if !op.hasBody() {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			c := op.valid(t, s, 0).as(admin)
			pad := func(size int) call { return c.with(c.body + strings.Repeat(" ", size-len(c.body))) }
			s.send(t, pad(102_401)).wantMessage(t, 413, "The body must not be larger than 102400 bytes.")
			s.send(t, pad(1_000_000)).wantError(t, 413)
			s.send(t, c.with(`{"x":"`+strings.Repeat("é", 51_197)+`"}`)).wantError(t, 413) // bytes, not characters
			s.send(t, pad(102_400)).want(t, op.success)
		})
	}
	t.Run("the gateway's own", func(t *testing.T) {
		t.Parallel()
		for size, body := range map[int]string{6_300_000: `{"message":"Request Too Long"}`, 10_485_761: "HTTP content length exceeded 10485760 bytes."} {
			a := s.send(t, putFeedback("x", strings.Repeat(" ", size)).as(admin)).want(t, 413)
			if a.body != body {
				t.Errorf("%d bytes: %q", size, a.body)
			}
		}
	})
	t.Run("where a body is ignored it may be large", func(t *testing.T) {
		t.Parallel()
		s.send(t, get(typesPath).as(admin).with(strings.Repeat("x", 200_000))).want(t, 200)
	})
}

// TestSection1_RefusedByThePlatform: "431, malformed HTTP and a URL that the gateway refuses (a bad escape, a method ARN over 1,600 bytes:
// 400 or 414) are its own too. What goes through DEFAULT_4XX has the name ValidationError and a constant message."
func TestSection1_RefusedByThePlatform(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	t.Run("414 for a method ARN over 1,600 bytes", func(t *testing.T) {
		t.Parallel()
		a := s.send(t, putFeedback(strings.Repeat("x", 1600), `{}`).as(admin)).want(t, 414)
		if !strings.Contains(a.body, `"name":"ValidationError","message":"The request is not valid."`) {
			t.Errorf("body %s", a.body)
		}
	})
	t.Run("431 for headers above 10,240 bytes", func(t *testing.T) {
		t.Parallel()
		c := get(typesPath).as(admin)
		c.header = http.Header{"X-Long": {strings.Repeat("x", 10_240)}}
		s.send(t, c).want(t, 431)
	})
	for name, path := range map[string]string{"a bad escape": "/api/admin/feedback/%zz", "half an escape": "/api/admin/feedback/%"} {
		t.Run("400 for "+name, func(t *testing.T) {
			t.Parallel()
			if status, _ := s.raw(t, "PUT "+path+" HTTP/1.1\r\nHost: x\r\nAuthorization: "+admin+"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"); status != 400 {
				t.Errorf("status %d", status)
			}
		})
	}
	for name, bytes := range map[string]string{
		"no HTTP": "hello\r\n\r\n", "no host": "GET /api/admin/context HTTP/1.1\r\n\r\n", "a bad length": "PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
	} {
		t.Run("400 for malformed HTTP: "+name, func(t *testing.T) {
			t.Parallel()
			if status, _ := s.raw(t, bytes); status != 400 {
				t.Errorf("status %d", status)
			}
		})
	}
}

// raw sends bytes and reads one answer.
func (s *service) raw(t *testing.T, request string) (status int, body string) {
	t.Helper()
	var d net.Dialer
	connection, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.BaseURL, "http://"))
	must(t, err)
	defer connection.Close()
	must(t, connection.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = fmt.Fprint(connection, request)
	must(t, err)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	must(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(content)
}
