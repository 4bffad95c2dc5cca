package dynamo_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

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
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if err != nil || string(got) != text || r.ContentLength != int64(len(text)) || !body.closed {
			t.Errorf("%q of %d bytes, %v, closed %t", got, r.ContentLength, err, body.closed)
		}
	}))
	defer server.Close()
	client := dynamo.NewHTTPClient(server.URL)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
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
	connections := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "GET /", r.Method+" "+r.URL.Path)
		connections[r.RemoteAddr] = true
		_, _ = io.WriteString(w, "healthy: dynamodb")
	}))
	defer server.Close()
	client := newClient(t, server.URL, dynamo.NewHTTPClient(server.URL).Transport)
	for range 10 {
		assert.OK(t, dynamo.WarmUp(t.Context(), client))
	}
	if len(connections) > 5 { // net/http closes one whose writer is late, on a busy machine
		t.Errorf("%d connections for 10 requests: they are not kept", len(connections))
	}
}
