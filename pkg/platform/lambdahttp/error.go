package lambdahttp

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/platform/apierror"
)

// retryAfter is the Retry-After of a 503, in seconds. Conflicts and restarts of a dependency are usually over after one
// second.
const retryAfter = 1

// Status returns the HTTP status of a kind of error (contract section 1).
func Status(kind apierror.Kind) int {
	return [...]int{
		apierror.Internal:               http.StatusInternalServerError,
		apierror.AuthenticationRequired: http.StatusUnauthorized,
		apierror.NoAccess:               http.StatusForbidden,
		apierror.ContentType:            http.StatusUnsupportedMediaType,
		apierror.ContentTooLarge:        http.StatusRequestEntityTooLarge,
		apierror.Validation:             http.StatusBadRequest,
		apierror.NotFound:               http.StatusNotFound,
		apierror.NameExists:             http.StatusConflict,
		apierror.Conflict:               http.StatusConflict,
		apierror.PreconditionFailed:     http.StatusPreconditionFailed,
		apierror.Unavailable:            http.StatusServiceUnavailable,
	}[kind]
}

// PreferDetails is the preference (RFC 7240) with which a client asks for the details of errors. Without it, the error
// object has exactly three properties.
const PreferDetails = "error-details"

// WriteError writes the response of an error: the error object. The id identifies the error and its log line. header is
// that of the request.
func WriteError(w http.ResponseWriter, header http.Header, id string, err error) {
	e := apierror.From(err)
	object := struct {
		ID      string            `json:"id"`
		Name    string            `json:"name"`
		Message string            `json:"message"`
		Details []apierror.Detail `json:"details,omitempty"`
	}{ID: id, Name: e.Kind.Name(), Message: e.Message}
	if prefersDetails(header) {
		object.Details = e.Details
	}
	body, err := json.Marshal(object)
	if err != nil { // texts and numbers can always be encoded
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	switch e.Kind { //nolint:exhaustive // the others have no header of their own
	case apierror.AuthenticationRequired:
		w.Header().Set("WWW-Authenticate", "Bearer") // RFC 9110, 15.5.2
	case apierror.Unavailable:
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.WriteHeader(Status(e.Kind))
	_, _ = w.Write(body) // writes to a buffer
}

// prefersDetails reports whether the client asks for the details of errors.
func prefersDetails(header http.Header) bool {
	preferences := strings.Split(strings.Join(header.Values("Prefer"), ","), ",")
	return slices.ContainsFunc(preferences, func(p string) bool {
		return strings.EqualFold(strings.TrimSpace(p), PreferDetails)
	})
}
