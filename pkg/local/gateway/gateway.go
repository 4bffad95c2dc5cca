package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/samtemplate"
)

// Limits of API Gateway and Lambda, in bytes.
const (
	maxPayload   = 10 * 1024 * 1024 // request body
	maxEvent     = 6 * 1024 * 1024  // event of a function
	maxResponse  = 6 * 1024 * 1024  // response of a function
	maxHeaders   = 10240            // names and values of the request headers
	maxMethodARN = 1600
	maxLogLine   = 1024
)

// integrationLimit is the time that API Gateway waits for a function.
const integrationLimit = 29 * time.Second

var errWaited = errors.New("function did not return within 29 seconds")

// Config is the configuration of a Gateway.
type Config struct {
	API       samtemplate.API
	Functions map[string]*invoke.Function // by logical id

	Region, AccountID, APIID string // for ARNs and requestContext

	// AcceptHost reports whether requests with a Host header, which can have a port, are for this API. nil: all are.
	AcceptHost func(host string) bool

	Now   func() time.Time
	NewID func() string // returns a UUID

	// AccessLog receives one line per request and the time of the request, before the first byte of the response is sent:
	// a request that has a response is in the log. OnRequest is called after each response. Both are required and called
	// concurrently.
	AccessLog func(line []byte, at time.Time)
	OnRequest func(*terminal.Entry)
}

// Gateway emulates one REST API. It is an http.Handler and safe for concurrent use.
type Gateway struct {
	config     Config
	resources  []*resource
	authorizer *invoke.Function // nil if the API has none
	arnPrefix  string           // arn:aws:execute-api:REGION:ACCOUNT:API/STAGE/
}

// New returns the gateway for an API. It rejects everything in the template that the gateway does not support.
func New(c Config) (*Gateway, error) {
	g := &Gateway{
		config: c, arnPrefix: "arn:aws:execute-api:" + c.Region + ":" + c.AccountID + ":" + c.APIID + "/" + c.API.Stage + "/",
	}
	if a := c.API.Authorizer; a.Function != "" {
		g.authorizer = c.Functions[a.Function]
		if a.TTL != 0 {
			return nil, fmt.Errorf("authorizer %s: ReauthorizeEvery must be 0, not %d: there is no authorizer cache", a.Name,
				int(a.TTL.Seconds()))
		}
	}
	var err error
	if g.resources, err = newResources(c.API.Routes, c.Functions, g.authorizer != nil); err != nil {
		return nil, err
	}
	if err := checkGatewayResponses(c.API.GatewayResponses); err != nil {
		return nil, err
	}
	if err := checkVariables(c.API.AccessLogFormat, slices.Sorted(maps.Keys(variables))...); err != nil {
		return nil, fmt.Errorf("access log format: %w", err)
	}
	return g, nil
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, httpRequest *http.Request) {
	r := g.newRequest(httpRequest)
	response, gatewayError := r.handle() //nolint:contextcheck // a client that disconnects does not end the function
	if gatewayError != nil {
		response = r.gatewayResponse(gatewayError)
	}
	r.send(w, response)
	entry := &terminal.Entry{Method: httpRequest.Method, Path: r.path, Status: r.status, Duration: r.latency, ID: r.id}
	if r.route != nil {
		entry.Function = r.route.function.Name
	}
	if gatewayError != nil && r.status >= http.StatusInternalServerError {
		entry.Cause = gatewayError.cause
	}
	g.config.OnRequest(entry)
}

// handle returns the function's response or the reason why the gateway responds itself.
func (r *request) handle() (*response, *gatewayError) {
	if gatewayError := r.validate(); gatewayError != nil {
		return nil, gatewayError
	}
	if gatewayError := r.findRoute(); gatewayError != nil {
		return nil, gatewayError
	}
	body, gatewayError := r.readBody()
	if gatewayError != nil {
		return nil, gatewayError
	}
	event := r.event(body)
	if r.route.authorized {
		if gatewayError := r.authorize(event); gatewayError != nil {
			return nil, gatewayError
		}
	}
	payload, err := encode(event)
	if err != nil {
		return nil, errBadGateway.because(err)
	}
	if len(payload) > maxEvent {
		return nil, errEventTooLarge
	}
	output, err := r.invoke(r.route.function, payload)
	if errors.Is(err, errWaited) {
		return nil, errIntegrationTimeout.because(err)
	}
	if err != nil {
		return nil, errBadGateway.because(err)
	}
	response, err := parseResponse(output)
	if err != nil {
		return nil, errBadGateway.because(err)
	}
	response.header["X-Amzn-Trace-Id"] = []string{r.traceID}
	r.compress(response)
	return response, nil
}

// invoke calls a function. A client that disconnects does not end it.
func (r *request) invoke(f *invoke.Function, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(r.http.Context()), integrationLimit, errWaited)
	defer cancel()
	return f.Invoke(ctx, r.gateway.config.NewID(), payload)
}

// encode returns an event as JSON. Bytes that are not UTF-8 become U+FFFD.
func encode(event any) ([]byte, error) {
	return json.Marshal(event, jsontext.AllowInvalidUTF8(true), json.FormatNilMapAsNull(true))
}
