package gateway

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// authorization is what a Lambda authorizer answered.
type authorization struct {
	principal string
	context   []pair // in the authorizer's order, all as strings
	policy    policy
}

// errAuthorizerOutput is the cause where the authorizer's answer is no policy.
var errAuthorizerOutput = errors.New("malformed authorizer output")

// unauthorized is the text of the one error that makes a 401 [APIGW/apigateway-use-lambda-authorizer].
const unauthorized = "Unauthorized"

// authorize asks the authorizer and evaluates its policy.
func (x *exchange) authorize() *refusal {
	methodARN := x.g.arnPrefix + x.method + x.path
	if len(methodARN) > maxMethodARN {
		return refuseURI()
	}
	if x.g.caching && x.identityMissing() {
		return refuseAs(unauthorizedType, nil)
	}
	begin := x.g.config.Now()
	output, err := x.invoke(x.g.authorizer, x.encodeAuthorizerEvent(methodARN))
	x.authorizerLatency = x.g.config.Now().Sub(begin)
	if err == nil {
		var a authorization
		if a, err = x.parseAuthorization(output); err == nil {
			x.authorized = &a
			return a.decide(methodARN)
		}
	}
	x.authorizerError = err.Error()
	var panicked *PanicError
	switch {
	case err == errIntegrationTimeout: //nolint:errorlint // the value itself, never a function's error that wraps it
		return refuseAs(authorizerFailure, fmt.Errorf("authorizer: %w", err))
	case x.authorizerError == unauthorized && !errors.As(err, &panicked):
		return refuseAs(unauthorizedType, nil)
	}
	return refuseAs(authorizerConfigurationError, fmt.Errorf("authorizer: %w", err))
}

// identityMissing tells whether an identity source is missing or empty.
func (x *exchange) identityMissing() bool {
	for _, name := range x.g.config.API.Authorizer.IdentityHeaders {
		if x.r.Header.Get(name) == "" {
			return true
		}
	}
	return false
}

func (a *authorization) decide(methodARN string) *refusal {
	refused := refuseAs(accessDenied, nil)
	switch a.policy.evaluate(methodARN) {
	case allowed:
		return nil
	case denied:
		refused.message += " with an explicit deny in an identity-based policy" // [seen]
	case unmatched:
	}
	return refused
}

// append writes requestContext.authorizer: all strings but the latency.
func (a *authorization) append(b []byte, latency time.Duration) []byte {
	b = appendString(append(b, `{"principalId":`...), a.principal)
	b = strconv.AppendInt(append(b, `,"integrationLatency":`...), latency.Milliseconds(), 10)
	for _, p := range a.context {
		b = append(appendString(append(b, ','), p.name), ':')
		b = appendString(b, p.value)
	}
	return append(b, '}')
}

// parseAuthorization reads the authorizer's answer. What is not as it must be is errAuthorizerOutput.
func (x *exchange) parseAuthorization(output []byte) (authorization, error) {
	var a authorization
	if len(output) > maxResponse {
		return a, fmt.Errorf("%w: larger than 6 MB", errAuthorizerOutput)
	}
	d := x.buffers.decode(output)
	hasPolicy := false
	err := readObject(d, func(name string) (err error) {
		switch name {
		case "principalId":
			a.principal, err = readString(d)
		case "policyDocument":
			hasPolicy = true
			a.policy, err = readPolicy(d)
		case "context":
			a.context, err = readContext(d)
		default:
			err = d.SkipValue()
		}
		return err
	})
	if err == nil {
		err = readEnd(d)
	}
	switch {
	case err != nil:
	case a.principal == "":
		err = errors.New("no principalId")
	case !hasPolicy:
		err = errors.New("no policyDocument")
	}
	if err != nil {
		return a, fmt.Errorf("%w: %w", errAuthorizerOutput, err)
	}
	return a, nil
}

// readContext reads the authorizer's context: strings, numbers and booleans, which become strings; null is left out.
func readContext(d *jsontext.Decoder) ([]pair, error) {
	if d.PeekKind() == 'n' {
		return nil, d.SkipValue()
	}
	var context []pair
	err := readObject(d, func(name string) error {
		value, ok, err := readScalar(d)
		if err != nil {
			return fmt.Errorf("context key %q: %w", name, err)
		}
		if !ok || name == "principalId" || name == "integrationLatency" {
			return nil
		}
		for i := range context {
			if context[i].name == name {
				context[i].value = value
				return nil
			}
		}
		context = append(context, pair{name, value})
		return nil
	})
	return context, err
}
