package lambdahttp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"toggleadmin/pkg/platform/apierror"
)

// urlEvent contains the properties of the event of a function URL that this package reads: the payload format 2.0 (AWS
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

func (e *urlEvent) method() string { return e.RequestContext.HTTP.Method }

func (*urlEvent) requestID() string { return "" }

func (e *urlEvent) attributes() []slog.Attr {
	return []slog.Attr{
		slog.String("method", e.RequestContext.HTTP.Method), slog.String("path", fmt.Sprintf("%.200s", e.RawPath)),
	}
}

func (e *urlEvent) request(ctx context.Context, maxBody int64) (*http.Request, error) {
	var accessor core.RequestAccessorV2
	r, err := accessor.EventToRequestWithContext(ctx, e.forLibrary())
	if err != nil {
		return nil, fmt.Errorf("convert the event: %w", err)
	}
	return r, e.complete(r, maxBody)
}

func (e *urlEvent) response(w *response) (any, error) {
	to := core.NewProxyResponseWriterV2()
	w.copyTo(to)
	return to.GetProxyResponse()
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
func (e *urlEvent) complete(r *http.Request, maxBody int64) error {
	r.Method = e.RequestContext.HTTP.Method
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	for _, cookie := range e.Cookies {
		r.Header.Add("Cookie", cookie)
	}
	path, err := url.PathUnescape(e.RawPath)
	if err != nil {
		return apierror.New(apierror.Validation, "The path has an invalid escape.")
	}
	r.URL = &url.URL{
		Scheme:   "https",
		Host:     e.RequestContext.DomainName,
		Path:     path,
		RawPath:  e.RawPath,
		RawQuery: e.RawQueryString,
	}
	r.Host, r.RequestURI = r.URL.Host, r.URL.RequestURI()
	setBody(r, e.Body, e.IsBase64Encoded, maxBody)
	return nil
}
