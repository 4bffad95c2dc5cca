package gateway

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/samtemplate"
)

// Types of gateway responses that the gateway makes by itself.
const (
	unauthorizedType             = "UNAUTHORIZED"
	accessDenied                 = "ACCESS_DENIED"
	authorizerFailure            = "AUTHORIZER_FAILURE"
	authorizerConfigurationError = "AUTHORIZER_CONFIGURATION_ERROR"
	missingAuthenticationToken   = "MISSING_AUTHENTICATION_TOKEN"
	invalidSignature             = "INVALID_SIGNATURE"
	requestTooLarge              = "REQUEST_TOO_LARGE"
	integrationTimeout           = "INTEGRATION_TIMEOUT"
	default4XX                   = "DEFAULT_4XX"
	default5XX                   = "DEFAULT_5XX"
)

// notAuthorized is how the text of an ACCESS_DENIED begins.
const notAuthorized = "User is not authorized to access this resource"

// refusal is an answer of the gateway's own.
type refusal struct {
	kind      string // type of gateway response; empty: beyond the reach of gateway responses
	status    int    // before customisation
	errorType string // x-amzn-ErrorType
	message   string // $context.error.message; empty: null
	text      string // the whole body, as plain text
	cause     error
}

// responseTypes are the 21 types with their defaults [APIGW/supported-gateway-response-types; error types and messages: seen].
func responseTypes() map[string]refusal {
	return map[string]refusal{
		unauthorizedType:             {status: 401, errorType: "UnauthorizedException", message: "Unauthorized"},
		accessDenied:                 {status: 403, errorType: "AccessDeniedException", message: notAuthorized},
		authorizerFailure:            {status: 500, errorType: "AuthorizerFailureException"},
		authorizerConfigurationError: {status: 500, errorType: "AuthorizerConfigurationException"},
		missingAuthenticationToken:   {status: 403, errorType: "MissingAuthenticationTokenException", message: "Missing Authentication Token"},
		invalidSignature:             {status: 403, errorType: "IncompleteSignatureException"},
		requestTooLarge:              {status: 413, errorType: "RequestEntityTooLargeException", message: "Request Too Long"},
		integrationTimeout:           {status: 504, errorType: "InternalServerErrorException", message: "Endpoint request timed out"},
		default4XX:                   {status: 400, errorType: "BadRequestException", message: "Bad Request"},
		default5XX:                   {status: 502, errorType: "InternalServerErrorException", message: "Internal server error"},
		// never made here: their customisation is checked all the same
		"API_CONFIGURATION_ERROR": {status: 500}, "BAD_REQUEST_BODY": {status: 400}, "BAD_REQUEST_PARAMETERS": {status: 400},
		"EXPIRED_TOKEN": {status: 403}, "INTEGRATION_FAILURE": {status: 504}, "INVALID_API_KEY": {status: 403},
		"QUOTA_EXCEEDED": {status: 429}, "RESOURCE_NOT_FOUND": {status: 404}, "THROTTLED": {status: 429},
		"UNSUPPORTED_MEDIA_TYPE": {status: 415}, "WAF_FILTERED": {status: 403},
	}
}

// response is a type of gateway response, customised and ready to be filled in.
type response struct {
	standard refusal
	status   int // 0: the refusal's own
	headers  []responseHeader
	body     template
}

type responseHeader struct {
	name  string
	value template
}

// refuseAs makes a refusal of a type; its defaults follow in refuse.
func refuseAs(kind string, cause error) *refusal {
	refused := &refusal{kind: kind, cause: cause}
	if kind == accessDenied {
		refused.message = notAuthorized
	}
	return refused
}

// refuseBadGateway is what a function's error, panic, timeout or malformed output comes to.
func refuseBadGateway(cause error) *refusal {
	return &refusal{kind: default5XX, status: http.StatusBadGateway, cause: cause}
}

// refuseURI refuses a method ARN that is too long.
func refuseURI() *refusal {
	return &refusal{
		kind: default4XX, status: http.StatusRequestURITooLong, errorType: "RequestUriTooLongException", message: "Request-URI Too Long",
	}
}

// refuseOwn makes an answer that no gateway response reaches.
func refuseOwn(status int, errorType, message string) *refusal {
	return &refusal{status: status, errorType: errorType, message: message}
}

// compileResponses prepares all types: a type's own customisation, else that of DEFAULT_4XX or DEFAULT_5XX, else AWS's default.
func compileResponses(custom map[string]samtemplate.GatewayResponse) (map[string]*response, error) {
	types := responseTypes()
	for _, name := range slices.Sorted(maps.Keys(custom)) {
		if _, known := types[name]; !known {
			return nil, fmt.Errorf("gateway response %s: there is no such type", name)
		}
	}
	all := make(map[string]*response, len(types))
	for _, name := range slices.Sorted(maps.Keys(types)) {
		standard := types[name]
		standard.kind = name
		fallback := default4XX
		if standard.status >= http.StatusInternalServerError {
			fallback = default5XX
		}
		c, own := custom[name]
		if !own {
			c = custom[fallback]
		}
		if name == requestTooLarge { // cannot be customised [APIGW/api-gateway-known-issues]
			c = samtemplate.GatewayResponse{}
		}
		r, err := compileResponse(name, c)
		if err != nil {
			return nil, fmt.Errorf("gateway response %s: %w", name, err)
		}
		r.standard = standard
		all[name] = r
	}
	return all, nil
}

func compileResponse(name string, c samtemplate.GatewayResponse) (*response, error) {
	r := &response{status: c.StatusCode}
	if c.StatusCode != 0 && (c.StatusCode < 200 || c.StatusCode > 599) {
		return nil, fmt.Errorf("status code %d is none", c.StatusCode)
	}
	for _, header := range slices.Sorted(maps.Keys(c.Headers)) {
		value, err := compileMapping(c.Headers[header])
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", header, err)
		}
		r.headers = append(r.headers, responseHeader{http.CanonicalHeaderKey(header), value})
	}
	text, err := responseTemplate(name, c.Templates)
	if err != nil {
		return nil, err
	}
	if r.body, err = compileTemplate(text, contextVariables(), ""); err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	return r, nil
}

// responseTemplate chooses the body: the one template for application/json, else AWS's default with its odd spellings [seen].
func responseTemplate(name string, templates map[string]string) (string, error) {
	if text, ok := templates["application/json"]; ok && len(templates) == 1 {
		return text, nil
	}
	switch {
	case len(templates) > 0:
		return "", errors.New("only a template for application/json can be played")
	case name == accessDenied:
		return `{"Message":$context.error.messageString}`, nil
	case name == default5XX || name == integrationTimeout:
		return `{"message": $context.error.messageString}`, nil
	}
	return `{"message":$context.error.messageString}`, nil
}

// compileMapping reads a header's mapping expression: 'constant' or context.variable.
func compileMapping(expression string) (template, error) {
	if constant, ok := strings.CutPrefix(expression, "'"); ok {
		if constant, ok = strings.CutSuffix(constant, "'"); ok {
			return template{parts: []part{{literal: constant}}}, nil
		}
	}
	if !strings.HasPrefix(expression, "context.") {
		return template{}, fmt.Errorf("mapping expression %q can not be played: it is neither 'constant' nor context.variable", expression)
	}
	t, err := compileTemplate("$"+expression, contextVariables(), "")
	if err == nil && (len(t.parts) != 1 || t.parts[0].value == nil) {
		err = fmt.Errorf("mapping expression %q can not be played", expression)
	}
	return t, err
}

// refuse answers for the gateway.
func (x *exchange) refuse(refused *refusal) {
	x.refused = refused
	h := x.w.Header()
	var body []byte
	r := x.g.responses[refused.kind]
	switch {
	case r == nil:
		x.identify(h, refused.errorType)
		body = append(appendString([]byte(`{"message":`), refused.message), '}')
		x.send(refused.status, body)
		return
	case refused.errorType == "":
		refused.errorType = r.standard.errorType
		if refused.message == "" {
			refused.message = r.standard.message
		}
	}
	if refused.status == 0 {
		refused.status = r.standard.status
	}
	if r.status != 0 {
		refused.status = r.status
	}
	x.status = refused.status
	if refused.text != "" {
		h["Content-Type"] = []string{"text/plain"}
		body = []byte(refused.text)
	} else {
		body = r.body.append(x.buffers.scratch[:0], x)
		x.buffers.scratch = body
		for _, header := range r.headers {
			if value := header.value.append(nil, x); len(value) > 0 {
				h[header.name] = []string{string(value)}
			}
		}
	}
	x.identify(h, refused.errorType)
	x.send(refused.status, body)
}
