package client_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// behind returns the handler of a process behind trusted proxies.
func (f *fixture) behind(trusted string) *client.Handler {
	f.Helper()
	proxies, err := client.ParseProxies(trusted)
	assert.OK(f, err)
	return f.processWith(func(c *client.Config) { c.Proxies = proxies })
}

// The address of a caller is what a trusted proxy says, and otherwise that of the connection.
func TestCaller(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	addresses := []string{address, "192.0.2.7", "192.0.2.9", "198.51.100.9", "203.0.113.1", "2001:db8::1"}
	for _, a := range addresses {
		f.put("shop", "of-"+a, toggle.Strategy{Constraints: []toggle.Constraint{
			{ContextName: "remoteAddress", Operator: toggle.OperatorIn, Values: []string{a}},
		}})
	}
	f.compile()
	token := f.token(clienttokentable.Frontend)
	const forwarded, viewer = "X-Forwarded-For", "CloudFront-Viewer-Address"
	for _, test := range []struct{ trusted, header, sent, want string }{
		{"none", forwarded, "203.0.113.1", address},
		{"none", viewer, "203.0.113.1:443", address},
		{"cloudfront", viewer, "203.0.113.1:46532", "203.0.113.1"},
		{"cloudfront", viewer, "2001:db8::1:4653", "2001:db8::1"},
		{"cloudfront", viewer, "203.0.113.1", address},
		{"cloudfront", viewer, "", address},
		{"cloudfront", viewer, "x:1", address},
		{"cloudfront", forwarded, "198.51.100.9, 203.0.113.1", "203.0.113.1"},
		{"cloudfront", forwarded, "198.51.100.9, 203.0.113.1, " + address, "203.0.113.1"},
		{"192.0.2.0/24", viewer, "203.0.113.1:443", address},
		{"192.0.2.0/24", forwarded, "", address},
		{"192.0.2.0/24", forwarded, "203.0.113.1", "203.0.113.1"},
		{"192.0.2.0/24", forwarded, "203.0.113.1," + address, "203.0.113.1"},
		{"192.0.2.0/24", forwarded, "198.51.100.9, 203.0.113.1 , 192.0.2.9", "203.0.113.1"},
		{"192.0.2.1/32,203.0.113.0/24", forwarded, "192.0.2.9, 198.51.100.9, 203.0.113.1", "198.51.100.9"},
		{"192.0.2.0/24", forwarded, "203.0.113.1, unknown, 192.0.2.9", "192.0.2.9"},
		{"192.0.2.0/24", forwarded, "203.0.113.1:4711", "203.0.113.1"},
		{"192.0.2.0/24", forwarded, "[2001:db8::1]:443", "2001:db8::1"},
		{"192.0.2.0/24", forwarded, "2001:DB8:0::1%eth0", "2001:db8::1"},
		{"192.0.2.0/24", forwarded, "::ffff:203.0.113.1", "203.0.113.1"},
		{"192.0.2.0/24", forwarded, "192.0.2.7, 192.0.2.9", "192.0.2.7"},
		{"2001:db8::/32,10.0.0.0/8", forwarded, "203.0.113.1", address},
	} {
		h := f.behind(test.trusted)
		for _, method := range []string{"GET", "POST"} {
			got := call(h, method, "/api/frontend", token, "", test.header, test.sent)
			for _, a := range addresses {
				if strings.Contains(got.body, `"of-`+a+`"`) != (a == test.want) {
					t.Errorf("behind %s with %s %q: %s, want %s", test.trusted, test.header, test.sent, got.body, test.want)
				}
			}
		}
	}
	sent := call(f.behind("192.0.2.0/24"), "GET", "/api/frontend?remoteAddress=198.51.100.9", token, "", forwarded, "203.0.113.1")
	assert.Equal(t, true, strings.Contains(sent.body, `"of-198.51.100.9"`))
}

// Visitors without a session are different visitors behind a proxy, too.
func TestSessionsBehindAProxy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	half := map[string]string{"rollout": "50", "stickiness": "default", "groupId": "g"}
	f.put("shop", "half", toggle.Strategy{Parameters: half})
	f.compile()
	token := f.token(clienttokentable.Frontend)
	for trusted, header := range map[string]string{
		"192.0.2.0/24": "X-Forwarded-For", "cloudfront": "CloudFront-Viewer-Address",
	} {
		h, on := f.behind(trusted), 0
		for i := range 100 {
			value := fmt.Sprintf("203.0.113.%d", i)
			if trusted == "cloudfront" {
				value += ":443"
			}
			on += strings.Count(call(h, "GET", "/api/frontend", token, "", header, value).body, `"half"`)
		}
		if on < 30 || on > 70 {
			t.Errorf("behind %s, a rollout of 50 %% is on for %d of 100 visitors", trusted, on)
		}
	}
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "None", "all", "10.0.0.1", "10.0.0.0/33", "10.0.0.0/8,", "10.0.0.0/8, 10.0.0.0/8"} {
		if _, err := client.ParseProxies(text); err == nil || !strings.HasPrefix(err.Error(), "must be none, cloudfront, or ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
