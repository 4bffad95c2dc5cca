package gateway_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHost(t *testing.T) {
	t.Parallel()
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3000}
	for _, tt := range []struct {
		name, host string
		status     int
		want       string // domainName
	}{
		{"a name", "example.com", 200, "example.com"},
		{"with a port", "a-b_c.example.com:3000", 200, "a-b_c.example.com:3000"},
		{"with an empty port", "example.com:", 200, "example.com:"},
		{"an address", "127.0.0.1:80", 200, "127.0.0.1:80"},
		{"an IPv6 address", "[::1]", 200, "[::1]"},
		{"an IPv6 address and a port", "[2001:db8::1]:3000", 200, "[2001:db8::1]:3000"},
		{"none", "", 200, "127.0.0.1:3000"},
		{"a port alone", ":3000", 400, ""},
		{"a port that is none", "example.com:http", 400, ""},
		{"two ports", "example.com:1:2", 400, ""},
		{"half an IPv6 address", "[::1", 400, ""},
		{"brackets around nothing", "[]", 400, ""},
		{"brackets in brackets", "[[::1]]", 400, ""},
		{"brackets around a name", "[example.com]", 400, ""},
		{"a zone", "[fe80::1%25eth0]", 400, ""},
		{"a user", "a@example.com", 400, ""},
		{"an escape", "a%41", 400, ""},
		{"a path", "example.com/a", 400, ""},
		{"not ASCII", "exämple.com", 400, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			function := &capture{}
			g := newSetup(function.Invoke, says(allowAll)).gateway(t)
			request := httptest.NewRequestWithContext(
				context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(local)), http.MethodGet, "/open", nil)
			request.Host = tt.host
			w := httptest.NewRecorder()
			g.ServeHTTP(w, request)
			if w.Code != tt.status {
				t.Fatalf("status %d, want %d", w.Code, tt.status)
			}
			if tt.status == http.StatusOK {
				equal(t, "domainName", function.request(t).RequestContext.DomainName, tt.want)
			}
		})
	}
}
