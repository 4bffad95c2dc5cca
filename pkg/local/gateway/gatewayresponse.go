package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"toggleadmin/pkg/samtemplate"
)

// Types of gateway responses that the code refers to more than once.
const (
	default4XX      = "DEFAULT_4XX"
	default5XX      = "DEFAULT_5XX"
	requestTooLarge = "REQUEST_TOO_LARGE"
)

// gatewayError is the reason why the gateway responds itself.
type gatewayError struct {
	status       int    // unless the template sets another one
	errorType    string // x-amzn-ErrorType, without "Exception"
	responseType string // type of gateway response
	body         string // if set, the template has no influence on the response
	cause        error
}

// The errors of the gateway.
var (
	errBadRequest      = &gatewayError{400, "BadRequest", "", `{"message":"Bad Request"}`, nil}
	errOtherHost       = &gatewayError{403, "Forbidden", "", `{"message":"Forbidden: the Host is not one of this API"}`, nil}
	errRequestTimeout  = &gatewayError{408, "RequestTimeout", "", `{"message":"Request Timeout"}`, nil}
	errHeadersTooLarge = &gatewayError{431, "RequestHeaderFieldsTooLarge", "",
		`{"message":"Request Header Fields Too Large"}`, nil}
	errPayloadTooLarge = &gatewayError{413, "RequestEntityTooLarge", requestTooLarge,
		fmt.Sprintf("HTTP content length exceeded %d bytes.", maxPayload), nil}
	errEventTooLarge = &gatewayError{413, "RequestEntityTooLarge", requestTooLarge, `{"message":"Request Too Long"}`, nil}

	errUnsupportedMediaType       = &gatewayError{415, "UnsupportedMediaType", "UNSUPPORTED_MEDIA_TYPE", "", nil}
	errURITooLong                 = &gatewayError{414, "RequestUriTooLong", default4XX, "", nil}
	errAccessDenied               = &gatewayError{403, "AccessDenied", "ACCESS_DENIED", "", nil}
	errMissingAuthenticationToken = &gatewayError{403, "MissingAuthenticationToken", "MISSING_AUTHENTICATION_TOKEN", "", nil}
	errInvalidSignature           = &gatewayError{403, "IncompleteSignature", "INVALID_SIGNATURE", "", nil}
	errAuthorizerFailure          = &gatewayError{500, "AuthorizerFailure", "AUTHORIZER_FAILURE", "", nil}
	errAuthorizerConfiguration    = &gatewayError{500, "AuthorizerConfiguration", "AUTHORIZER_CONFIGURATION_ERROR", "", nil}
	errIntegrationTimeout         = &gatewayError{504, "InternalServerError", "INTEGRATION_TIMEOUT", "", nil}
	errBadGateway                 = &gatewayError{502, "InternalServerError", default5XX, "", nil}
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
	header := http.Header{"x-amzn-ErrorType": {e.errorType + "Exception"}}
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
