package dynamo_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"toggleadmin/pkg/dynamo"
)

// body is a request's body that tells whether it was read to the end and closed before the request was sent.
type body struct {
	io.Reader
	closed atomic.Bool
	err    error
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return b.Reader.Read(p)
}

func (b *body) Close() error {
	b.closed.Store(true)
	return nil
}

func TestLoopbackSendsACopyOfTheBody(t *testing.T) {
	t.Parallel()
	const text = "a body that is read before it is sent"
	b := &body{Reader: strings.NewReader(text)}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if err != nil || string(got) != text || r.ContentLength != int64(len(text)) || !b.closed.Load() {
			t.Errorf("%q of %d, %v, closed %t", got, r.ContentLength, err, b.closed.Load())
		}
	}))
	t.Cleanup(server.Close)
	client := dynamo.NewHTTPClient(server.URL)
	t.Cleanup(client.CloseIdleConnections)
	for _, length := range []int64{int64(len(text)), -1} {
		b.Reader = strings.NewReader(text)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, b)
		if err != nil {
			t.Fatal(err)
		}
		request.ContentLength = length
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if request.ContentLength != length || request.Body != io.ReadCloser(b) {
			t.Error("the caller's request was changed")
		}
	}
	broken := &body{err: errors.New("it broke")}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, broken)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := client.Do(request); !errors.Is(err, broken.err) {
		t.Errorf("error %v", err)
		answer.Body.Close()
	}
}

// TestOnlyLoopbackCopies: elsewhere the body goes out as it is, and through a proxy where there is one.
func TestOnlyLoopbackCopies(t *testing.T) {
	t.Parallel()
	for endpoint, copies := range map[string]bool{
		"http://127.0.0.1:1": true, "http://localhost:1": true, "http://[::1]:1": true, "http://127.9.9.9": true,
		"": false, "http://10.0.0.1": false, "https://dynamodb.eu-west-1.amazonaws.com": false, "http://localhost.example.com": false, ":": false,
	} {
		_, plain := dynamo.NewHTTPClient(endpoint).Transport.(*http.Transport)
		if plain == copies {
			t.Errorf("%q: plain transport %t", endpoint, plain)
		}
	}
}

// TestConnectionsAreKept: large answers come whole over one connection, although the server answers before it has read the request.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	answer := `{"Item":{"id":{"S":"` + strings.Repeat("x", 20_000) + `"}}}`
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, answer)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			dials.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	httpClient := dynamo.NewHTTPClient(server.URL)
	t.Cleanup(httpClient.CloseIdleConnections)
	client := newClient(t, server.URL, httpClient.Transport)
	for range 200 {
		item, err := dynamo.Get(t.Context(), client, "t", dynamo.Item{"id": dynamo.S("x")})
		if err != nil || len(item.String("id")) != 20_000 {
			t.Fatal(err)
		}
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections for calls one after another", n)
	}
}

func TestWarmUp(t *testing.T) {
	t.Parallel()
	var paths sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths.Store(r.RemoteAddr, r.Method+" "+r.URL.Path)
		_, _ = io.WriteString(w, "healthy: dynamodb")
	}))
	t.Cleanup(server.Close)
	client := dynamo.NewHTTPClient(server.URL)
	t.Cleanup(client.CloseIdleConnections)
	for range 3 {
		if err := dynamo.WarmUp(t.Context(), client, server.URL, ""); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	paths.Range(func(_, path any) bool {
		n++
		if path != "GET /" && path != "GET " {
			t.Errorf("asked %s", path)
		}
		return true
	})
	if n != 1 {
		t.Errorf("%d connections: the first is not kept", n)
	}
	seen := ""
	aws := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		seen = r.URL.String()
		return nil, errors.New("unreachable")
	})}
	if err := dynamo.WarmUp(t.Context(), aws, "", "eu-west-1"); err == nil || seen != "https://dynamodb.eu-west-1.amazonaws.com" {
		t.Errorf("asked %q, error %v", seen, err)
	}
	if err := dynamo.WarmUp(t.Context(), client, "http://[", ""); err == nil {
		t.Error("no error for an address that is none")
	}
}
