package lambdahttp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/jsonbody"
)

// urlEvent contains the members of the event of a function URL that this package reads: the payload format 2.0 (AWS
// Lambda Developer Guide, "Invoking Lambda function URLs").
type urlEvent struct {
	RawPath        string            `json:"rawPath"` // percent-encoded
	RawQueryString string            `json:"rawQueryString"`
	Headers        map[string]string `json:"headers"` // several values are separated by commas
	Cookies        []string          `json:"cookies"`
	RequestContext struct {
		DomainName string `json:"domainName"`
		HTTP       struct {
			Method   string `json:"method"`
			SourceIP string `json:"sourceIp"`
		} `json:"http"`
	} `json:"requestContext"`
	Body            string `json:"body"`
	IsBase64Encoded bool   `json:"isBase64Encoded"`
}

// FunctionURL returns the Lambda handler of a function URL whose requests an http.Handler serves. It is safe for
// concurrent use.
func FunctionURL(h http.Handler) lambda.Handler { return functionURL{h} }

type functionURL struct{ handler http.Handler }

// Invoke implements lambda.Handler. Its errors, and panics of the http.Handler, become a 502 of the function URL.
func (f functionURL) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event urlEvent
	if err := invocation.Decode(payload, &event); err != nil {
		return nil, fmt.Errorf("decode the event of a function URL: %w", err)
	}
	ctx, cancel := invocation.StopEarly(ctx, invocation.Margin)
	defer cancel()
	adapter := httpadapter.NewV2(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := event.complete(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		f.handler.ServeHTTP(w, r)
	}))
	response, err := adapter.ProxyWithContext(ctx, event.forLibrary())
	if err != nil {
		return nil, fmt.Errorf("convert the event of a function URL: %w", err)
	}
	if event.RequestContext.HTTP.Method == http.MethodHead {
		response.Body, response.IsBase64Encoded = "", false // RFC 9110, section 9.3.2
	}
	return jsonbody.Encode(response)
}

// forLibrary returns an event that the proxy library converts without an error. The library fails on unusual methods,
// paths and bodies, and splits the values of headers at commas, so complete sets these afterwards.
func (e *urlEvent) forLibrary() events.APIGatewayV2HTTPRequest {
	converted := events.APIGatewayV2HTTPRequest{RawPath: "/"}
	converted.RequestContext.HTTP.Method = http.MethodGet
	converted.RequestContext.HTTP.SourceIP = e.RequestContext.HTTP.SourceIP
	return converted
}

// complete sets the parts of the request that forLibrary leaves out.
func (e *urlEvent) complete(r *http.Request) error {
	r.Method = e.RequestContext.HTTP.Method
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	for _, cookie := range e.Cookies {
		r.Header.Add("Cookie", cookie)
	}
	path, err := url.PathUnescape(e.RawPath)
	if err != nil {
		return errors.New("the path has an invalid escape")
	}
	r.URL = &url.URL{
		Scheme:   "https",
		Host:     e.RequestContext.DomainName,
		Path:     path,
		RawPath:  e.RawPath,
		RawQuery: e.RawQueryString,
	}
	r.Host, r.RequestURI = r.URL.Host, r.URL.RequestURI()
	r.ContentLength = int64(len(e.Body))
	var body io.Reader = strings.NewReader(e.Body)
	if e.IsBase64Encoded {
		r.ContentLength = -1
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	r.Body = io.NopCloser(body)
	return nil
}
