// Package apierror defines the error object of the API, with the status and the name of each kind of error (contract
// section 1).
//
// Handlers return an *Error, or an error that wraps one, and package lambdahttp writes it. The error responses of API
// Gateway itself are in template.yaml.
package apierror

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// Kind is a kind of error response. The zero Kind is Internal.
type Kind int

// The kinds of error responses.
const (
	Internal Kind = iota
	AuthenticationRequired
	NoAccess
	ContentType
	ContentTooLarge
	Validation
	NotFound
	NameExists
	Conflict
	PreconditionFailed
	Unavailable
)

// kinds contains the status and the name of each kind.
var kinds = [...]struct {
	status int
	name   string
}{
	Internal:               {http.StatusInternalServerError, "InternalError"},
	AuthenticationRequired: {http.StatusUnauthorized, "AuthenticationRequired"},
	NoAccess:               {http.StatusForbidden, "NoAccessError"},
	ContentType:            {http.StatusUnsupportedMediaType, "ContentTypeerror"}, // the spelling of api/openapi.yaml
	ContentTooLarge:        {http.StatusRequestEntityTooLarge, "ContentTooLarge"},
	Validation:             {http.StatusBadRequest, "ValidationError"},
	NotFound:               {http.StatusNotFound, "NotFoundError"},
	NameExists:             {http.StatusConflict, "NameExistsError"},
	Conflict:               {http.StatusConflict, "ConflictError"},
	PreconditionFailed:     {http.StatusPreconditionFailed, "PreconditionFailed"},
	Unavailable:            {http.StatusServiceUnavailable, "ServiceUnavailable"},
}

// Status returns the HTTP status of the kind.
func (k Kind) Status() int { return kinds[k].status }

// Name returns the name of the kind in the error object.
func (k Kind) Name() string { return kinds[k].name }

// Messages that are used in several places. The gateway responses in template.yaml repeat some of them.
const (
	TextAuthenticationRequired = "You need a valid credential in the Authorization header."
	TextInternal               = "Something went wrong on our side. Please try again."
	TextUnavailable            = "The service cannot reach its data at the moment. Please try again."
	TextPathNotAvailable       = "The path you were looking for is not available."
)

// Error is an error with the response that the client gets.
type Error struct {
	Kind    Kind
	Message string // for the client
	Cause   error  // for the log only; may be nil
}

// New returns an error without a cause.
func New(kind Kind, message string) *Error { return &Error{Kind: kind, Message: message} }

// NewUnavailable returns the 503 for a dependency failure.
func NewUnavailable(cause error) *Error {
	return &Error{Kind: Unavailable, Message: TextUnavailable, Cause: cause}
}

// Error implements error. The text is for the log: it contains the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Kind.Name() + ": " + e.Cause.Error()
	}
	return e.Kind.Name() + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// From returns the *Error for any error: the one that err wraps; or a 503 if err wraps an error with a method
// Unavailable() bool that returns true, such as an error of package dynamo; or a 500.
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

// retryAfter is the Retry-After of a 503, in seconds. Conflicts and restarts of a dependency are usually over after one
// second.
const retryAfter = 1

// Write writes the response of e. The id identifies the error and its log line.
func Write(w http.ResponseWriter, id string, e *Error) {
	body, err := json.Marshal(struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Message string `json:"message"`
	}{id, e.Kind.Name(), e.Message})
	if err != nil { // strings can always be encoded
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	if e.Kind == Unavailable {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.WriteHeader(e.Kind.Status())
	_, _ = w.Write(body) // writes to a buffer
}
