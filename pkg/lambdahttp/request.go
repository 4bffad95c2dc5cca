package lambdahttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"unicode/utf8"

	"toggleadmin/pkg/apierror"
)

const (
	// MaxBody is the longest body that an operation takes, in bytes (contract, section 1).
	MaxBody = 102_400
	// maxParam is the longest path parameter, in characters (contract, section 2).
	maxParam = 255
)

// Request is what the gateway says about a request.
type Request struct {
	ID           string         // the gateway's request id
	Method       string         // of HTTP
	ResourcePath string         // /api/admin/feedback/{id}
	BaseURL      string         // what stands before ResourcePath in the address that the caller used: https://host[/stage], no slash at the end
	PrincipalID  string         // who the authorizer says it is
	Authorizer   map[string]any // the authorizer's context; empty where there was none
}

type exchangeKey struct{}

// exchange is one request on its way through this package.
type exchange struct {
	request Request
	params  map[string]string // as the gateway sent them: percent-encoded
	body    []byte
	bodyErr error
	failed  *apierror.Error
	errorID string
}

func exchangeOf(ctx context.Context) *exchange {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok { // New puts it there; a handler that is called without New has no gateway behind it
		return &exchange{}
	}
	return x
}

// RequestOf gives what the gateway says about r. It is taken from the event, never from a header, which a client could forge.
func RequestOf(r *http.Request) Request { return exchangeOf(r.Context()).request }

// ErrPathParam says that a path parameter has a broken escape, is not UTF-8 once decoded, or is too long.
var ErrPathParam = errors.New("not a path parameter that the API takes")

// PathParam gives a path parameter, percent-decoded exactly once, or ErrPathParam together with the text as it was sent.
func PathParam(r *http.Request, name string) (string, error) {
	if value := r.PathValue(name); value != "" {
		return value, nil
	}
	return exchangeOf(r.Context()).params[name], ErrPathParam
}

// BadPathParam is the 400 of an operation that names its bad path parameter; sent is the text that PathParam gave.
func BadPathParam(name, sent string) error {
	return apierror.New(apierror.Validation, fmt.Sprintf(
		"The `/params/%s` property must be UTF-8, percent-encoded and at most %d characters long; you sent %q.", name, maxParam, apierror.Echo(sent)))
}

func (x *exchange) setPathValues(r *http.Request) {
	for name, raw := range x.params {
		value, err := url.PathUnescape(raw)
		if err == nil && utf8.ValidString(value) && utf8.RuneCountInString(value) <= maxParam {
			r.SetPathValue(name, value)
		}
	}
}

var (
	errBase64 = errors.New("the body is not valid base64")
	// ErrTooLarge says that a body is longer than MaxBody.
	ErrTooLarge = errors.New("the body is too large")
)

// Body gives the request's body: ErrTooLarge above MaxBody bytes, another error where the event's base64 is broken.
func Body(r *http.Request) ([]byte, error) {
	x := exchangeOf(r.Context())
	if len(x.body) > MaxBody {
		return nil, ErrTooLarge
	}
	return x.body, x.bodyErr
}
