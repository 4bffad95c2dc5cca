package dynamo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	dialTimeout   = time.Second
	answerTimeout = 3 * time.Second // a call that hangs longer is given up and repeated; DynamoDB's own p99 is milliseconds
	idleConns     = 128
)

// NewHTTPClient makes the HTTP client under the DynamoDB client; one per process, safe for concurrent use. Connections to a loopback
// endpoint send a copy of the body: the SDK closes a request's body as soon as the answer's header is there, and a server on the same
// machine answers before net/http has seen the end of it, which would cost the connection, and now and then the answer.
func NewHTTPClient(endpoint string) *http.Client {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     false,
		MaxIdleConns:          idleConns,
		MaxIdleConnsPerHost:   idleConns,
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: answerTimeout,
	}
	if isLoopback(endpoint) {
		transport.Proxy = nil
		transport.DisableCompression = true
		return &http.Client{Transport: copyBody{transport}}
	}
	return &http.Client{Transport: transport}
}

func isLoopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

type copyBody struct{ next http.RoundTripper }

// RoundTrip sends a copy of the request whose body is in memory.
func (c copyBody) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return c.next.RoundTrip(r)
	}
	body := make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead)
	buffer := bytes.NewBuffer(body)
	if _, err := buffer.ReadFrom(r.Body); err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	if err := r.Body.Close(); err != nil {
		return nil, fmt.Errorf("close the request's body: %w", err)
	}
	clone := *r
	clone.Body = io.NopCloser(bytes.NewReader(buffer.Bytes()))
	clone.ContentLength = int64(buffer.Len())
	return c.next.RoundTrip(&clone)
}

// WarmUp opens the connection to DynamoDB before the first request comes, by a GET of the endpoint's root, which every DynamoDB
// endpoint answers without credentials (as "healthy"). It needs no permission and costs no capacity. An error only means that the
// first request opens the connection.
func WarmUp(ctx context.Context, client *http.Client, endpoint, region string) error {
	if endpoint == "" {
		endpoint = "https://dynamodb." + region + ".amazonaws.com"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil { // read to the end, so that the connection is kept
		return fmt.Errorf("warm up: %w", err)
	}
	return nil
}
