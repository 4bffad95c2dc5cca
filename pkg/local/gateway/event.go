package gateway

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// droppedHeaders are the request headers that do not reach a function.
var droppedHeaders = map[string]bool{
	"Connection":         true,
	"Content-Encoding":   true, // decompress removes it
	"Content-Length":     true,
	"Content-Md5":        true,
	"Expect":             true,
	"Keep-Alive":         true,
	"Max-Forwards":       true,
	"Proxy-Authenticate": true,
	"Proxy-Connection":   true,
	"Server":             true,
	"Te":                 true,
	"Trailer":            true,
	"Transfer-Encoding":  true,
	"Upgrade":            true,
	"Www-Authenticate":   true,
}

// event returns the function's event, without the authorizer's part.
func (r *request) event(body string) *events.APIGatewayProxyRequest {
	headers, multiValueHeaders := r.headers()
	query, multiValueQuery := parseQuery(r.query)
	c := &r.gateway.config
	domainPrefix, _, _ := strings.Cut(r.host, ".")
	return &events.APIGatewayProxyRequest{
		Resource: r.resource.path, Path: r.path, HTTPMethod: r.method, Headers: headers, MultiValueHeaders: multiValueHeaders,
		QueryStringParameters: query, MultiValueQueryStringParameters: multiValueQuery, PathParameters: r.params, Body: body,
		RequestContext: events.APIGatewayProxyRequestContext{
			AccountID: c.AccountID, APIID: c.APIID, Stage: c.API.Stage,
			ResourceID: r.resource.path, ResourcePath: r.resource.path,
			HTTPMethod: r.method, Path: r.path, Protocol: r.http.Proto, DomainName: r.host, DomainPrefix: domainPrefix,
			RequestID: r.id, ExtendedRequestID: r.extendedID,
			RequestTime: r.start.Format("02/Jan/2006:15:04:05 -0700"), RequestTimeEpoch: r.start.UnixMilli(),
			Identity: events.APIGatewayRequestIdentity{SourceIP: r.sourceIP, UserAgent: r.http.UserAgent()},
		},
	}
}

// headers returns the headers with the last value of each and with all values.
func (r *request) headers() (single map[string]string, multi map[string][]string) {
	multi = make(map[string][]string, len(r.http.Header)+5)
	for name, values := range r.http.Header {
		if !droppedHeaders[name] {
			multi[name] = values
		}
	}
	port := "80"
	if _, sent, err := net.SplitHostPort(r.host); err == nil {
		port = sent
	}
	multi["Host"] = []string{r.host}
	multi["X-Forwarded-For"] = []string{strings.Join(append(slices.Clip(multi["X-Forwarded-For"]), r.sourceIP), ", ")}
	multi["X-Forwarded-Port"] = []string{port}
	multi["X-Forwarded-Proto"] = []string{"http"}
	multi["X-Amzn-Trace-Id"] = []string{r.traceID}
	single = make(map[string]string, len(multi))
	for name, values := range multi {
		single[name] = values[len(values)-1]
	}
	return single, multi
}

// parseQuery returns the decoded query with the last value of each name and with all values; nil if there is none. A
// semicolon also separates. A malformed escape stays as it is.
func parseQuery(query string) (single map[string]string, multi map[string][]string) {
	for member := range strings.FieldsFuncSeq(query, func(c rune) bool { return c == '&' || c == ';' }) {
		if single == nil {
			single, multi = map[string]string{}, map[string][]string{}
		}
		name, value, _ := strings.Cut(member, "=")
		name, value = unescapeQuery(name), unescapeQuery(value)
		single[name], multi[name] = value, append(multi[name], value)
	}
	return single, multi
}

func unescapeQuery(s string) string {
	if decoded, err := url.QueryUnescape(s); err == nil {
		s = decoded
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
