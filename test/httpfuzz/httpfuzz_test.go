// Package httpfuzz_test sends valid, malformed and hostile bytes to the port of the local service. Each request must get a response of
// the contract or a closed connection: never a 5xx status, a crash, or a connection that stays open.
package httpfuzz_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
)

// start serves, and returns a function that replaces {TOKEN} by the token of an administrator.
func start(tb testing.TB) (base string, fill func(string) []byte) {
	tb.Helper()
	service := localtest.Start(tb, local.Config{})
	return service.BaseURL, func(text string) []byte { return []byte(strings.ReplaceAll(text, "{TOKEN}", service.Users[0].PAT)) }
}

func TestEveryRequestGetsAResponseOrAClosedConnection(t *testing.T) {
	t.Parallel()
	base, fill := start(t)
	t.Cleanup(func() { // the service still works after all cases
		if got := send(t, base, fill(get+end)); len(got) != 1 || got[0].StatusCode != http.StatusOK {
			t.Errorf("a valid request gets %v", got)
		}
	})
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := []int{}
			for _, r := range send(t, base, fill(tt.sent)) {
				got = append(got, r.StatusCode)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzBytes(f *testing.F) {
	base, fill := start(f)
	for _, c := range cases {
		if len(c.sent) < 4096 {
			f.Add([]byte(c.sent))
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte) { send(t, base, fill(string(sent))) })
}

// The Location header is an absolute URL below the address that the caller used. A request with an invalid address creates nothing.
func TestLocationUnderEveryHost(t *testing.T) { //nolint:tparallel // an account may have ten tokens
	t.Parallel()
	base, fill := start(t)
	for i, tt := range []struct {
		name, start string // the text between POST and the credential; %s is the path
		host        string // of Location; empty: the request is rejected
	}{
		{"name", "%s HTTP/1.1\r\nHost: example.com", "example.com"},
		{"name and port", "%s HTTP/1.1\r\nHost: example.com:3000", "example.com:3000"},
		{"IPv6 address", "%s HTTP/1.1\r\nHost: [::1]:3000", "[::1]:3000"},
		{"absolute URL", "http://other:1%s HTTP/1.1\r\nHost: example.com", "other:1"},
		{"HTTP/1.0 without Host", "%s HTTP/1.0", strings.TrimPrefix(base, "http://")},
		{"empty Host", "%s HTTP/1.1\r\nHost:", strings.TrimPrefix(base, "http://")},
		{"escape", "%s HTTP/1.1\r\nHost: a%%41b", ""},
		{"invalid port", "%s HTTP/1.1\r\nHost: example.com:http", ""},
		{"open bracket", "%s HTTP/1.1\r\nHost: [::1", ""},
		{"double quote", "%s HTTP/1.1\r\nHost: a\"b", ""},
		{"user", "%s HTTP/1.1\r\nHost: evil@example.com", ""},
		{"path", "%s HTTP/1.1\r\nHost: example.com/evil", ""},
		{"query", "%s HTTP/1.1\r\nHost: example.com?x", ""},
		{"markup", "%s HTTP/1.1\r\nHost: <b>", ""},
		{"second header", "%s HTTP/1.1\r\nHost: a\rLocation: b", ""},
		{"invalid UTF-8", "%s HTTP/1.1\r\nHost: \xff", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const path = "/api/admin/service-account/4/token"
			body := fmt.Sprintf(`{"description":"%d","expiresAt":"2199-01-01T00:00:00Z"}`, i)
			responses := send(t, base, fill(fmt.Sprintf(
				"POST "+tt.start+"\r\nAuthorization: {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: %d"+end+"%s", path, len(body), body)))
			if len(responses) != 1 {
				t.Fatalf("got %d responses", len(responses))
			}
			response := responses[0]
			location := response.Header.Get("Location")
			if tt.host == "" {
				if response.StatusCode != http.StatusBadRequest || location != "" {
					t.Errorf("status %d, Location %q", response.StatusCode, location)
				}
				return
			}
			u, err := url.Parse(location)
			if err != nil || response.StatusCode != http.StatusCreated || u.Scheme != "http" || u.Host != tt.host || !strings.HasPrefix(u.Path, path+"/") {
				t.Errorf("status %d, Location %q, want http://%s%s/…", response.StatusCode, location, tt.host, path)
			}
		})
	}
}
