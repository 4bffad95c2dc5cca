package lambdahttp

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"toggleadmin/pkg/platform/apigateway"
)

const (
	// DefaultMaxBody is the size limit of a request body, in bytes (api/openapi.yaml, contentTooLarge), unless the
	// operation has the option MaxBody.
	DefaultMaxBody = 102_400
	// maxPathValue is the length limit of a path parameter, in characters (contract section 2).
	maxPathValue = 255
)

// proxyEvent contains the properties of events.APIGatewayProxyRequest that this package reads. Decoding all of them
// would take most of the time of a warm invocation.
type proxyEvent struct {
	Resource          string              `json:"resource"`
	Path              string              `json:"path"` // percent-encoded
	HTTPMethod        string              `json:"httpMethod"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	PathParameters    map[string]string   `json:"pathParameters"` // percent-encoded
	Query             map[string][]string `json:"multiValueQueryStringParameters"`
	RequestContext    struct {
		RequestID         string         `json:"requestId"`
		ExtendedRequestID string         `json:"extendedRequestId"`
		DomainName        string         `json:"domainName"`
		Path              string         `json:"path"` // percent-encoded; starts with the stage or with a custom domain's base path
		Authorizer        map[string]any `json:"authorizer"`
	} `json:"requestContext"`
	Body            string `json:"body"`
	IsBase64Encoded bool   `json:"isBase64Encoded"`
}

func (e *proxyEvent) method() string { return e.HTTPMethod }

func (e *proxyEvent) requestID() string { return e.RequestContext.RequestID }

func (e *proxyEvent) attributes() []slog.Attr {
	principalID, _ := e.RequestContext.Authorizer["principalId"].(string)
	return []slog.Attr{
		slog.String("apiRequestId", e.RequestContext.RequestID),
		slog.String("method", e.HTTPMethod),
		slog.String("route", e.Resource),
		slog.String("principalId", principalID),
	}
}

func (e *proxyEvent) request(ctx context.Context, maxBody int64) (*http.Request, error) {
	ctx = apigateway.WithRequest(ctx, apigateway.Request{
		ID: e.RequestContext.ExtendedRequestID, Authorizer: e.RequestContext.Authorizer,
		PathParameters: e.PathParameters, Query: e.Query,
	})
	var accessor core.RequestAccessor
	r, err := accessor.EventToRequestWithContext(ctx, e.forLibrary())
	if err != nil {
		return nil, fmt.Errorf("convert the event: %w", err)
	}
	e.complete(r, maxBody)
	return r, nil
}

func (e *proxyEvent) response(w *response) (any, error) {
	to := core.NewProxyResponseWriter()
	w.copyTo(to)
	return to.GetProxyResponse()
}

// forLibrary returns an event that the proxy library converts without an error and without loss. The library fails on
// unusual methods, paths, hosts and bodies, so complete sets these afterwards. It ignores Headers if MultiValueHeaders
// is empty but not nil.
func (e *proxyEvent) forLibrary() events.APIGatewayProxyRequest {
	converted := events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Path: "/", Headers: e.Headers}
	if len(e.MultiValueHeaders) > 0 {
		converted.MultiValueHeaders = e.MultiValueHeaders
	}
	return converted
}

// complete sets the parts of the request that forLibrary leaves out. maxBody is the size limit of the body.
func (e *proxyEvent) complete(r *http.Request, maxBody int64) {
	// The library reads the gateway's context from these headers, which a client can send.
	r.Header.Del(core.APIGwContextHeader)
	r.Header.Del(core.APIGwStageVarsHeader)
	r.Method, r.Pattern = e.HTTPMethod, e.Resource
	r.URL = e.url(r.Header)
	r.Host, r.RequestURI = r.URL.Host, r.URL.RequestURI()
	setBody(r, e.Body, e.IsBase64Encoded, maxBody)
	for name, sent := range e.PathParameters {
		value, err := url.PathUnescape(sent)
		if err == nil && utf8.ValidString(value) && utf8.RuneCountInString(value) <= maxPathValue {
			r.SetPathValue(name, value)
		}
	}
}

// setBody sets the body of a request, whose size is limited.
func setBody(r *http.Request, text string, isBase64 bool, limit int64) {
	r.ContentLength = int64(len(text))
	var body io.Reader = strings.NewReader(text)
	if isBase64 {
		r.ContentLength = -1
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	r.Body = http.MaxBytesReader(nil, io.NopCloser(body), limit)
}

// url returns the URL that the client used, without the query, which Gateway contains. The event's own path does not
// include the stage.
func (e *proxyEvent) url(header http.Header) *url.URL {
	u := &url.URL{Scheme: "https", Host: e.RequestContext.DomainName}
	if header.Get("X-Forwarded-Proto") == "http" {
		u.Scheme = "http"
	}
	if u.Host == "" { // some emulators omit it
		u.Host = header.Get("Host")
	}
	u.Path = e.RequestContext.Path
	if u.Path == e.Resource { // sam local repeats the resource
		u.Path = e.Path
	}
	if decoded, err := url.PathUnescape(u.Path); err == nil {
		u.Path, u.RawPath = decoded, u.Path
	}
	return u
}
