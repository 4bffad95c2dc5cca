// Package apierror defines the errors that clients get: their kinds, and the text for the client (contract section 1).
//
// Stores and handlers return an *Error, or an error that wraps one. Package lambdahttp makes the response of it. The
// commands of toggleadmin read its kind (KindOf) or print its message. The error responses of API Gateway itself are in
// template.yaml.
package apierror

import (
	"errors"
	"fmt"
)

// Kind is a kind of error. The zero Kind is Internal.
type Kind int

// The kinds of errors.
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

// Name returns the name of the kind in the error object.
func (k Kind) Name() string {
	return [...]string{
		Internal:               "InternalError",
		AuthenticationRequired: "AuthenticationRequired",
		NoAccess:               "NoAccessError",
		ContentType:            "ContentTypeerror", // the spelling of api/openapi.yaml
		ContentTooLarge:        "ContentTooLarge",
		Validation:             "ValidationError",
		NotFound:               "NotFoundError",
		NameExists:             "NameExistsError",
		Conflict:               "ConflictError",
		PreconditionFailed:     "PreconditionFailed",
		Unavailable:            "ServiceUnavailable",
	}[k]
}

// Messages that are used in several places. The gateway responses in template.yaml repeat some of them.
const (
	TextAuthenticationRequired = "You need a valid credential in the Authorization header."
	TextInternal               = "Something went wrong on our side. Please try again."
	TextUnavailable            = "The service cannot reach its data at the moment. Please try again."
	TextPathNotAvailable       = "The path you were looking for is not available."
)

// Error is an error with the kind and the message that the client gets.
type Error struct {
	Kind    Kind
	Message string   // for the client
	Details []Detail // the places of the request that are wrong; may be nil
	Cause   error    // for the log only; may be nil
}

// New returns an error without a cause.
func New(kind Kind, message string) *Error { return &Error{Kind: kind, Message: message} }

// Errorf returns an error without a cause. The message is formatted like those of fmt.Sprintf.
func Errorf(kind Kind, format string, arguments ...any) *Error {
	return New(kind, fmt.Sprintf(format, arguments...))
}

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

// IgnoreNotFound returns nil if the kind of err is NotFound, and err otherwise. It is for operations that have nothing to
// do if an item does not exist.
func IgnoreNotFound(err error) error {
	if KindOf(err) == NotFound {
		return nil
	}
	return err
}

// KindOf returns the kind of From(err). It is Internal if err is nil.
func KindOf(err error) Kind { return From(err).Kind }
