package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
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

// mediaType is the media type of the gateway's responses, errPayloadTooLarge excepted.
const mediaType = "application/json"

// requestID is the variable that gateway responses may use.
const requestID = "$context.requestId"

// validHeader matches the expressions for headers of gateway responses that the gateway supports.
var validHeader = regexp.MustCompile(`^('[^'$]*'|context\.requestId)$`)

func checkGatewayResponses(declared map[string]samtemplate.GatewayResponse) error {
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		body, ok := declared[name].ResponseTemplates[mediaType]
		if !ok || len(declared[name].ResponseTemplates) != 1 {
			return fmt.Errorf("gateway response %s: needs one template, for %s", name, mediaType)
		}
		if err := checkVariables(body, requestID); err != nil {
			return fmt.Errorf("gateway response %s: %w", name, err)
		}
		for header, expression := range declared[name].ResponseParameters.Headers {
			if !validHeader.MatchString(expression) {
				return fmt.Errorf("gateway response %s: header %s: %s is not supported, only 'text' and context.requestId",
					name, header, expression)
			}
		}
	}
	for _, name := range []string{default4XX, default5XX} {
		if response, ok := declared[name]; !ok || response.StatusCode != 0 {
			return fmt.Errorf("gateway response %s must be declared, without a StatusCode", name)
		}
	}
	return nil
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
	responses := r.gateway.config.API.GatewayResponses
	declared, ok := responses[e.responseType]
	if !ok && e.status < http.StatusInternalServerError {
		declared = responses[default4XX]
	} else if !ok {
		declared = responses[default5XX]
	}
	for name, expression := range declared.ResponseParameters.Headers {
		if constant, ok := strings.CutPrefix(expression, "'"); ok {
			header.Set(name, strings.TrimSuffix(constant, "'"))
		} else {
			header.Set(name, r.id)
		}
	}
	return &response{cmp.Or(declared.StatusCode, e.status), header, r.fill(declared.ResponseTemplates[mediaType], "")}
}
