// Package apierror is the one error object of the API: its kinds, the one table kind → status and name, and the one encoding.
//
// A handler returns an *Error (or any error that wraps one); pkg/lambdahttp writes it. An error that wraps none is a fault of the
// service: InternalError, its text only in the log. Contract, section 1. What API Gateway answers by itself stands in template.yaml.
package apierror

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// Kind is a kind of error that a function answers with.
type Kind int

// The kinds, in the order in which the checks of a request are made.
const (
	AuthenticationRequired Kind = iota + 1
	NoAccess
	ContentType
	ContentTooLarge
	Validation
	NotFound
	NameExists
	Unavailable
	Internal
)

// The table kind → status and name. The spelling of ContentTypeerror is the specification's.
func (k Kind) entry() (status int, name string) {
	switch k {
	case AuthenticationRequired:
		return http.StatusUnauthorized, "AuthenticationRequired"
	case NoAccess:
		return http.StatusForbidden, "NoAccessError"
	case ContentType:
		return http.StatusUnsupportedMediaType, "ContentTypeerror"
	case ContentTooLarge:
		return http.StatusRequestEntityTooLarge, "ContentTooLarge"
	case Validation:
		return http.StatusBadRequest, "ValidationError"
	case NotFound:
		return http.StatusNotFound, "NotFoundError"
	case NameExists:
		return http.StatusConflict, "NameExistsError"
	case Unavailable:
		return http.StatusServiceUnavailable, "ServiceUnavailable"
	case Internal:
	}
	return http.StatusInternalServerError, "InternalError"
}

// Status is the HTTP status of the kind.
func (k Kind) Status() int { status, _ := k.entry(); return status }

// Name is the error object's name of the kind.
func (k Kind) Name() string { _, name := k.entry(); return name }

// Texts that several places answer with. The template's gateway responses carry the first and the last too.
const (
	TextAuthenticationRequired = "You need a valid credential in the Authorization header."
	TextInternal               = "Something went wrong on our side. Please try again."
	TextUnavailable            = "The service cannot reach its data at the moment. Please try again."
	TextPathNotAvailable       = "The path you were looking for is not available."
)

// Error is an error with an answer: a kind, a text for the caller, and a cause for the log alone.
type Error struct {
	Kind    Kind
	Message string // for the caller
	Cause   error  // for the log; may be nil
}

// New makes an error that the caller gets told.
func New(kind Kind, message string) *Error { return &Error{Kind: kind, Message: message} }

// NewUnavailable makes the 503 of a fault below, which the caller may try again.
func NewUnavailable(cause error) *Error {
	return &Error{Kind: Unavailable, Message: TextUnavailable, Cause: cause}
}

// Error is for logs: the message and the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Kind.Name() + ": " + e.Cause.Error()
	}
	return e.Kind.Name() + ": " + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// From returns the *Error for any error: the one that err wraps; or a 503 if err wraps an error with a method Unavailable() bool that
// returns true, such as an error of package dynamo; or a 500.
func From(err error) *Error {
	if found, ok := errors.AsType[*Error](err); ok {
		return found
	}
	var dependency interface{ Unavailable() bool }
	if errors.As(err, &dependency) && dependency.Unavailable() {
		return NewUnavailable(err)
	}
	return &Error{Kind: Internal, Message: TextInternal, Cause: err}
}

// retryAfterSeconds is what a caller is asked to wait after a 503: the faults behind it are lost races and restarts, over in a second.
const retryAfterSeconds = 1

// Write answers with the error object: exactly id, name and message. The id is the caller's to find the log line by.
func Write(w http.ResponseWriter, id string, e *Error) {
	status, name := e.Kind.entry()
	body, err := json.Marshal(struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Message string `json:"message"`
	}{id, name, e.Message})
	if err != nil { // three strings always encode
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	if e.Kind == Unavailable {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfterSeconds))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the writer is a buffer
}
