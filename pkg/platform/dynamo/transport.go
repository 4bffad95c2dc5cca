package dynamo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/loopback"
)

const (
	dialTimeout = time.Second
	// an attempt without a response for longer is canceled and retried; DynamoDB's own p99 is milliseconds
	responseTimeout = time.Second
	engineTimeout   = 10 * time.Second // the same for another engine, which can share a busy machine with the tests
	idleConns       = 128
)

// NewHTTPClient makes the HTTP client for NewClient; one per process, safe for concurrent use. Connections to a
// loopback endpoint send a copy of the body: the SDK closes a request's body as soon as it has the response's header,
// and a server on the same machine responds before net/http has seen the end of the body. That would cost the
// connection and sometimes the response.
func NewHTTPClient(endpoint string) *http.Client {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConns:          idleConns,
		MaxIdleConnsPerHost:   idleConns,
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: responseTimeout,
	}
	if endpoint != "" {
		transport.ResponseHeaderTimeout = engineTimeout
	}
	if u, err := url.Parse(endpoint); err == nil && loopback.IsHost(u.Hostname()) {
		transport.Proxy = nil
		transport.DisableCompression = true
		return &http.Client{Transport: copyBody{transport}}
	}
	return &http.Client{Transport: transport}
}

type copyBody struct{ next http.RoundTripper }

// RoundTrip sends a copy of the request whose body is in memory.
func (c copyBody) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return c.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the request body: %w", err)
	}
	copied := *r
	copied.Body, copied.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return c.next.RoundTrip(&copied)
}

// WarmUp opens the connection to DynamoDB before the first request, by a GET of the endpoint's root. Every DynamoDB
// endpoint responds to it without credentials ("healthy"), so it needs no permission and costs no capacity. An error
// only means that the first request opens the connection.
func WarmUp(ctx context.Context, client *dynamodb.Client) error {
	o := client.Options()
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{
		Region:       &o.Region,
		UseFIPS:      aws.Bool(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
		UseDualStack: aws.Bool(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		Endpoint:     o.BaseEndpoint,
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint.URI.String(), nil)
	if err != nil {
		return err
	}
	response, err := o.HTTPClient.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body) // to the end, so that the connection is kept
	return errors.Join(err, response.Body.Close())
}
