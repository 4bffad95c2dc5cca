package webhook_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"toggleadmin/pkg/background/webhook"
	"toggleadmin/test/helper/assert"
)

const body = `{"specversion":"1.0","id":"1236fe30-a4da-5643-926d-5db47263dfdd","type":"toggleadmin.token-expiring",` +
	`"subject":"7"}`

var (
	secret = webhook.NewSecret(bytes.Repeat([]byte{1}, 24))
	second = webhook.NewSecret(bytes.Repeat([]byte{2}, 64))
)

func secrets(tb testing.TB, text string) []*standardwebhooks.Webhook {
	tb.Helper()
	parsed, err := webhook.ParseSecrets(text)
	assert.OK(tb, err)
	return parsed
}

func newClient(tb testing.TB, url string) *webhook.Client {
	tb.Helper()
	c, err := webhook.NewClient(url, true, time.Now)
	assert.OK(tb, err)
	return c
}

// send sends an event to a webhook.
func send(tb testing.TB, c *webhook.Client, secret string) error {
	tb.Helper()
	return c.Send(tb.Context(), "evt-1", []byte(body), secrets(tb, secret))
}

// The library of the specification accepts the request with each of the two secrets, and with no other one. TestReceivers
// also uses the library in JavaScript.
func TestSignature(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var content []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		content, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	assert.OK(t, send(t, newClient(t, server.URL+"/hook?a=b"), secret+" "+second))
	assert.Equal(t, []string{"POST", "/hook?a=b", body, "evt-1", "application/cloudevents+json"}, []string{got.Method,
		got.URL.String(), string(content), got.Header.Get("Webhook-Id"), got.Header.Get("Content-Type")})
	for text, valid := range map[string]bool{secret: true, second: true, webhook.NewSecret(make([]byte, 24)): false} {
		verifier, err := standardwebhooks.NewWebhook(text)
		assert.OK(t, err)
		assert.Equal(t, valid, verifier.Verify(content, got.Header) == nil)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/trickle" { // the status, and then no end
			_ = http.NewResponseController(w).Flush()
		}
		<-end
	}))
	defer server.Close()
	defer close(end)
	client := newClient(t, server.URL+"/hang?key=private")
	client.SetTimeout(50 * time.Millisecond)
	err := send(t, client, secret)
	if failed, ok := errors.AsType[net.Error](err); !ok || !failed.Timeout() || strings.Contains(err.Error(), "private") {
		t.Error(err)
	}
	client = newClient(t, server.URL+"/trickle")
	// on a busy machine, the status is not there at once
	client.SetTimeout(2 * time.Second)
	assert.OK(t, send(t, client, secret)) // the status decides
}

// TestAddressesThatAreNotPermitted connects by a name to an address that a public webhook must not lead to.
func TestAddressesThatAreNotPermitted(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	assert.OK(t, err)
	assert.ErrorIs(t, send(t, newClient(t, "https://localhost:"+port), secret), webhook.ErrNotPermitted)
}

func TestIsPublic(t *testing.T) {
	t.Parallel()
	for public, addresses := range map[bool][]string{
		true: {
			"93.184.216.34", "::ffff:93.184.216.34", "2606:2800:220:1::1", "172.15.0.1", "100.63.0.1", "192.1.0.1",
		},
		false: {
			"0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "127.8.8.8", "169.254.169.254", "172.16.0.1", "192.0.0.8",
			"192.168.1.1", "198.19.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
			"::", "::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
			"100::1", "2001::1", "2001:db8::1", "3fff::1", "2002:7f00:1::", "fc00::1", "fd00:ec2::254", "fe80::1",
			"fe80::1%lo", "fec0::1", "ff02::1",
		},
	} {
		for _, text := range addresses {
			if got := webhook.IsPublic(netip.MustParseAddr(text)); got != public {
				t.Errorf("%s is public: %t", text, got)
			}
		}
	}
}

func TestNewClient(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"",
		"ftp://example.com",
		"https://",
		"https:///path",
		"example.com",
		"//example.com",
		"https://a b/",
		"\x00",
		"http://example.com",
		"http://192.0.2.1",
		"http://localhost.example.com",
		"http://127.0.0.1.example.com",
		"http://127.0.0.1:65536",
		"https://example.com:0",
		"https://127.0.0.1",
		"https://[::1]",
		"https://[::ffff:127.0.0.1]",
		"https://0.0.0.0",
		"https://169.254.169.254/latest",
		"https://[fe80::1%25lo]",
	} {
		_, err := webhook.NewClient(url, true, time.Now)
		assert.ErrorIs(t, err, webhook.ErrURL)
	}
	// the first one is the runtime API of Lambda
	for _, url := range []string{"http://127.0.0.1:9001", "http://localhost", "http://[::1]"} {
		newClient(t, url)
		_, deployed := webhook.NewClient(url, false, time.Now)
		assert.ErrorIs(t, deployed, webhook.ErrURL)
	}
}

func TestParseSecrets(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 2, len(secrets(t, "\n"+secret+" \n "+second+"\n")))
	for _, text := range []string{
		"", "whsec_", strings.TrimPrefix(secret, "whsec_"), secret + " " + second + " " + secret, secret + ",", "whsec_AAAA",
		webhook.NewSecret(make([]byte, 23)), webhook.NewSecret(make([]byte, 65)), `{"secret":"` + secret + `"}`,
	} {
		if _, err := webhook.ParseSecrets(text); !errors.Is(err, webhook.ErrSecret) || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
