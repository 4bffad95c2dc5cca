package anybytes_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

// TestLocationUnderAnyHost makes tokens under addresses of every kind. Location is an absolute URL under the address that the caller
// used, in one line, whatever that was; an address that is none makes nothing.
func TestLocationUnderAnyHost(t *testing.T) { //nolint:tparallel // the account may have ten tokens: one after the other
	t.Parallel()
	base, fill := start(t)
	for i, tt := range []struct {
		name, start string // what stands between POST and the credential; %s is the path
		status      int
		host        string // Location's; empty: the address that the connection goes to
	}{
		{"a name", "%s HTTP/1.1\r\nHost: example.com", 201, "example.com"},
		{"a name and a port", "%s HTTP/1.1\r\nHost: example.com:3000", 201, "example.com:3000"},
		{"an IPv6 address", "%s HTTP/1.1\r\nHost: [::1]:3000", 201, "[::1]:3000"},
		{"an absolute address", "http://other:1%s HTTP/1.1\r\nHost: example.com", 201, "other:1"},
		{"HTTP/1.0", "%s HTTP/1.0", 201, ""},
		{"empty", "%s HTTP/1.1\r\nHost:", 201, ""},
		{"an empty port", "%s HTTP/1.1\r\nHost: example.com:", 201, "example.com:"},
		{"an escape", "%s HTTP/1.1\r\nHost: a%%41b", 400, ""},
		{"a broken escape", "%s HTTP/1.1\r\nHost: a%%zz", 400, ""},
		{"a port that is none", "%s HTTP/1.1\r\nHost: example.com:http", 400, ""},
		{"two ports", "%s HTTP/1.1\r\nHost: example.com:1:2", 400, ""},
		{"an open bracket", "%s HTTP/1.1\r\nHost: [::1", 400, ""},
		{"a quote", "%s HTTP/1.1\r\nHost: a'b", 400, ""},
		{"a double quote", "%s HTTP/1.1\r\nHost: a\"b", 400, ""},
		{"a user", "%s HTTP/1.1\r\nHost: evil@example.com", 400, ""},
		{"a path", "%s HTTP/1.1\r\nHost: example.com/evil", 400, ""},
		{"a query", "%s HTTP/1.1\r\nHost: example.com?x", 400, ""},
		{"markup", "%s HTTP/1.1\r\nHost: <b>", 400, ""},
		{"a line", "%s HTTP/1.1\r\nHost: a\rLocation: b", 400, ""},
		{"no UTF-8", "%s HTTP/1.1\r\nHost: \xff", 400, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const path = "/api/admin/service-account/4/token"
			body := fmt.Sprintf(`{"description":"%d","expiresAt":"2199-01-01T00:00:00Z"}`, i)
			answers := converse(t, base, fill(fmt.Sprintf(
				"POST "+tt.start+"\r\nAuthorization: {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: %d"+end+"%s", path, len(body), body)))
			if len(answers) != 1 || answers[0].StatusCode != tt.status {
				t.Fatalf("%+v", answers)
			}
			location := answers[0].Header["Location"]
			if tt.status != http.StatusCreated {
				if len(location) > 0 {
					t.Errorf("Location %q", location)
				}
				return
			}
			want := "http://" + tt.host + path
			if tt.host == "" {
				want = base + path
			}
			if len(location) != 1 || len(location[0]) <= len(want) || location[0][:len(want)] != want {
				t.Fatalf("Location %q, want %s/…", location, want)
			}
			if u, err := url.Parse(location[0]); err != nil || !u.IsAbs() || u.Host == "" || u.User != nil || u.RawQuery != "" {
				t.Errorf("Location %q: %v", location[0], err)
			}
		})
	}
}
