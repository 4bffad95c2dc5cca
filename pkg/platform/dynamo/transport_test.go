package dynamo_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
)

// newHTTPServer counts the connections of a client made for it.
func newHTTPServer(tb testing.TB, handler http.HandlerFunc) (url string, client *http.Client,
	connections *atomic.Int64) {
	tb.Helper()
	connections = &atomic.Int64{}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	tb.Cleanup(server.Close)
	client = dynamo.NewHTTPClient(server.URL)
	tb.Cleanup(client.CloseIdleConnections)
	return server.URL, client, connections
}

// closing is a request body that reports whether it was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

func TestLoopbackSendsACopyOfTheBody(t *testing.T) {
	t.Parallel()
	const text = "a body that is read before it is sent"
	body := &closing{Reader: strings.NewReader(text)}
	url, client, _ := newHTTPServer(t, func(_ http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if err != nil || string(got) != text || r.ContentLength != int64(len(text)) || !body.closed {
			t.Errorf("%q of %d bytes, %v, closed %t", got, r.ContentLength, err, body.closed)
		}
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	assert.OK(t, err)
	response, err := client.Do(request)
	assert.OK(t, err)
	response.Body.Close()
	if request.Body != io.ReadCloser(body) {
		t.Error("the caller's request was changed")
	}
	broken := errors.New("broken")
	request.Body = io.NopCloser(iotest.ErrReader(broken))
	if response, err := client.Do(request); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
		response.Body.Close()
	}
}

func TestOnlyLoopbackSendsACopy(t *testing.T) {
	t.Parallel()
	for endpoint, copies := range map[string]bool{
		"http://127.0.0.1:1": true, "http://localhost:1": true, "http://[::1]:1": true, "http://127.9.9.9": true,
		"": false, "http://10.0.0.1": false, "https://dynamodb.eu-west-1.amazonaws.com": false,
		"http://localhost.example.com": false, ":": false,
	} {
		_, plain := dynamo.NewHTTPClient(endpoint).Transport.(*http.Transport)
		if plain == copies {
			t.Errorf("%q: plain transport %t", endpoint, plain)
		}
	}
}

func TestWarmUp(t *testing.T) {
	t.Parallel()
	url, client, connections := newHTTPServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		_, _ = io.WriteString(w, "healthy: dynamodb")
	})
	for range 10 {
		assert.OK(t, dynamo.WarmUp(t.Context(), newClient(t, url, client.Transport)))
	}
	if n := connections.Load(); n > 5 { // net/http closes one whose writer is late, on a busy machine
		t.Errorf("%d connections for 10 requests: they are not kept", n)
	}
}
