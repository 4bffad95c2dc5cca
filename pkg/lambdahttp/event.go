package lambdahttp

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads an event of Lambda's into a Go value, in half of encoding/json's time, which would be the largest part of a warm
// invocation. It is as lenient as that: the last of duplicate names counts, and what is not UTF-8 becomes U+FFFD.
func Decode(payload []byte, into any) error {
	return json.Unmarshal(payload, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// proxyEvent is what is read of the REST proxy event. The rest (the query, stage variables, who the client is) would cost more to decode
// than a warm invocation does otherwise.
type proxyEvent struct {
	Resource          string              `json:"resource"`
	HTTPMethod        string              `json:"httpMethod"`
	Headers           jsontext.Value      `json:"headers"` // decoded only where MultiValueHeaders is empty
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	PathParameters    map[string]string   `json:"pathParameters"` // as the client sent them: percent-encoded
	RequestContext    struct {
		RequestID  string         `json:"requestId"`
		DomainName string         `json:"domainName"`
		Path       string         `json:"path"` // with the stage, or a custom domain's base path, in front
		Authorizer map[string]any `json:"authorizer"`
	} `json:"requestContext"`
	Body            string `json:"body"`
	IsBase64Encoded bool   `json:"isBase64Encoded"`

	header http.Header
}

func decodeEvent(payload []byte) (*proxyEvent, error) {
	event := &proxyEvent{}
	if err := Decode(payload, event); err != nil {
		return event, fmt.Errorf("decode the proxy event: %w", err)
	}
	event.header = make(http.Header, len(event.MultiValueHeaders))
	for name, values := range event.MultiValueHeaders {
		for _, value := range values {
			event.header.Add(name, value)
		}
	}
	if len(event.header) == 0 && len(event.Headers) > 0 {
		var single map[string]string
		if err := Decode(event.Headers, &single); err != nil {
			return event, fmt.Errorf("decode the proxy event's headers: %w", err)
		}
		for name, value := range single {
			event.header.Add(name, value)
		}
	}
	return event, nil
}

// forAdapter is the event as the proxy library can bear it: a path that is the template (it fails on a raw one with a stray %, and a
// decoded ? cuts it), no host and no query (the same), no body (it fails on broken base64, and the body is in the exchange), no source IP
// (it would become a RemoteAddr without a port), and without the two headers in which that library looks for the gateway's context, which
// a client can send.
func (e *proxyEvent) forAdapter() events.APIGatewayProxyRequest {
	e.header.Del(core.APIGwContextHeader)
	e.header.Del(core.APIGwStageVarsHeader)
	method := e.HTTPMethod
	// One that is no token is an error there. Whatever a client made of it is in the exchange; a handler serves one method.
	if strings.ContainsFunc(method, func(r rune) bool { return r != '-' && (r < 'A' || 'Z' < r) }) {
		method = http.MethodGet
	}
	adapted := events.APIGatewayProxyRequest{Path: e.Resource, HTTPMethod: method}
	if len(e.header) > 0 { // an empty map hides the single-value one
		adapted.MultiValueHeaders = e.header
	}
	return adapted
}

// body undoes the event's base64.
func (e *proxyEvent) body() ([]byte, error) {
	if !e.IsBase64Encoded {
		return []byte(e.Body), nil
	}
	body, err := base64.StdEncoding.DecodeString(e.Body)
	if err != nil {
		return nil, errBase64
	}
	return body, nil
}

// baseURL takes as many segments off the path of the context as the resource has. The event's own path would not tell: it has a custom
// domain's base path, too, but not the stage.
func (e *proxyEvent) baseURL() string {
	scheme, host := "https", e.RequestContext.DomainName
	if e.header.Get("X-Forwarded-Proto") == "http" {
		scheme = "http"
	}
	if host == "" { // some emulators leave it out
		host = e.header.Get("Host")
	}
	base := strings.TrimSuffix(e.RequestContext.Path, "/")
	for range strings.Count(e.Resource, "/") {
		base = base[:max(strings.LastIndexByte(base, '/'), 0)]
	}
	return scheme + "://" + host + base
}

func (e *proxyEvent) exchange() *exchange {
	c := &e.RequestContext
	x := &exchange{params: e.PathParameters, request: Request{
		ID: c.RequestID, Method: e.HTTPMethod, ResourcePath: e.Resource, BaseURL: e.baseURL(), Authorizer: c.Authorizer,
	}}
	x.request.PrincipalID, _ = c.Authorizer["principalId"].(string)
	x.body, x.bodyErr = e.body()
	return x
}
