package gateway

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/local/samtemplate"
)

// Types of gateway responses that the code refers to more than once.
const (
	default4XX      = "DEFAULT_4XX"
	default5XX      = "DEFAULT_5XX"
	requestTooLarge = "REQUEST_TOO_LARGE"
)

// gatewayError is the reason why the gateway responds itself.
type gatewayError struct {
	responseType string // type of gateway response
	status       int    // unless the template sets another one
	errorType    string // x-amzn-ErrorType
	body         string // if set, the template has no influence on the response
	cause        error
}

// The errors of the gateway. The template has no influence on those with a body.
var (
	errBadRequest = &gatewayError{status: 400, errorType: "BadRequestException", body: `{"message":"Bad Request"}`}
	errOtherHost  = &gatewayError{status: 403, errorType: "ForbiddenException",
		body: `{"message":"Forbidden: the Host is not one of this API"}`}
	errRequestTimeout = &gatewayError{status: 408, errorType: "RequestTimeoutException",
		body: `{"message":"Request Timeout"}`}
	errHeadersTooLarge = &gatewayError{
		status: 431, errorType: "RequestHeaderFieldsTooLargeException", body: `{"message":"Request Header Fields Too Large"}`,
	}
	errPayloadTooLarge = &gatewayError{
		responseType: requestTooLarge, status: 413, errorType: "RequestEntityTooLargeException",
		body: fmt.Sprintf("HTTP content length exceeded %d bytes.", maxPayload),
	}
	errEventTooLarge = &gatewayError{
		responseType: requestTooLarge, status: 413, errorType: "RequestEntityTooLargeException",
		body: `{"message":"Request Too Long"}`,
	}
	errURITooLong   = &gatewayError{responseType: default4XX, status: 414, errorType: "RequestUriTooLongException"}
	errAccessDenied = &gatewayError{responseType: "ACCESS_DENIED", status: 403, errorType: "AccessDeniedException"}

	errMissingAuthenticationToken = &gatewayError{
		responseType: "MISSING_AUTHENTICATION_TOKEN", status: 403, errorType: "MissingAuthenticationTokenException",
	}
	errInvalidSignature = &gatewayError{responseType: "INVALID_SIGNATURE", status: 403,
		errorType: "IncompleteSignatureException"}
	errAuthorizerFailure = &gatewayError{responseType: "AUTHORIZER_FAILURE", status: 500,
		errorType: "AuthorizerFailureException"}
	errAuthorizerConfiguration = &gatewayError{
		responseType: "AUTHORIZER_CONFIGURATION_ERROR", status: 500, errorType: "AuthorizerConfigurationException",
	}
	errIntegrationTimeout = &gatewayError{responseType: "INTEGRATION_TIMEOUT", status: 504,
		errorType: "InternalServerErrorException"}
	errBadGateway = &gatewayError{responseType: default5XX, status: 502, errorType: "InternalServerErrorException"}
)

func (e *gatewayError) because(cause error) *gatewayError {
	caused := *e
	caused.cause = cause
	return &caused
}

// gatewayResponse is a type of gateway response as the template declares it.
type gatewayResponse struct {
	status  int // 0: that of the error
	headers map[string]template
	body    template
}

var gatewayResponseVariables = map[string]variable{"$context.requestId": accessLogVariables["$context.requestId"]}

func newGatewayResponses(declared map[string]samtemplate.GatewayResponse) (map[string]gatewayResponse, error) {
	all := make(map[string]gatewayResponse, len(declared))
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		response, err := newGatewayResponse(declared[name])
		if err != nil {
			return nil, fmt.Errorf("gateway response %s: %w", name, err)
		}
		all[name] = response
	}
	for _, name := range []string{default4XX, default5XX} {
		if response, ok := all[name]; !ok || response.status != 0 {
			return nil, fmt.Errorf("gateway response %s must be declared, without a StatusCode", name)
		}
	}
	return all, nil
}

func newGatewayResponse(declared samtemplate.GatewayResponse) (gatewayResponse, error) {
	response := gatewayResponse{status: declared.StatusCode, headers: map[string]template{}}
	text, ok := declared.Templates["application/json"]
	if !ok || len(declared.Templates) != 1 {
		return response, errors.New("needs one template, for application/json")
	}
	var err error
	if response.body, err = newTemplate(text, gatewayResponseVariables); err != nil {
		return response, err
	}
	for name, expression := range declared.Headers {
		if constant := strings.Trim(expression, "'"); len(constant) == len(expression)-2 && !strings.Contains(constant, "$") {
			expression = constant
		} else {
			expression = "$" + expression
		}
		if response.headers[http.CanonicalHeaderKey(name)], err = newTemplate(expression,
			gatewayResponseVariables); err != nil {
			return response, fmt.Errorf("header %s: %w", name, err)
		}
	}
	return response, nil
}

// gatewayResponse returns the response to a gateway error. A type that the template does not declare falls back to a
// default type.
func (r *request) gatewayResponse(e *gatewayError) *response {
	r.errorType = e.responseType
	header := http.Header{"x-amzn-ErrorType": {e.errorType}}
	if e.body != "" {
		if e == errPayloadTooLarge {
			header.Set("Content-Type", "text/plain")
		}
		return &response{e.status, header, e.body}
	}
	declared, ok := r.gateway.responses[e.responseType]
	if !ok && e.status < http.StatusInternalServerError {
		declared = r.gateway.responses[default4XX]
	} else if !ok {
		declared = r.gateway.responses[default5XX]
	}
	for name, value := range declared.headers {
		header[name] = []string{value.fill(r, "")}
	}
	status := e.status
	if declared.status != 0 {
		status = declared.status
	}
	return &response{status, header, declared.body.fill(r, "")}
}
