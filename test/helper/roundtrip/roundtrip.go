// Package roundtrip responds to the requests of HTTP clients with functions.
package roundtrip

import (
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Func is an http.RoundTripper.
type Func func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f Func) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Response returns a response.
func Response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}}
}

// AWS returns the configuration of AWS clients with this transport.
func AWS(transport http.RoundTripper) aws.Config {
	return aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		HTTPClient: &http.Client{Transport: transport},
	}
}
