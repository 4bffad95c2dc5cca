package lambdahttp

import (
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
)

const (
	// ReasonHeader is the header with the reason of a change. It is percent-encoded, because headers are ASCII text.
	ReasonHeader = "Change-Reason"
	maxReason    = 300 // characters
)

// WithReason returns a handler of changes: the events that serve records have the reason of the header ReasonHeader. If the
// header is malformed, the handler returns a 400 and does not call serve.
func WithReason(serve HandlerFunc) HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		text, err := reasonOf(r.Header)
		if err != nil {
			return err
		}
		request := apigateway.RequestFrom(r.Context())
		request.Reason = text
		return serve(w, r.WithContext(apigateway.WithRequest(r.Context(), request)))
	}
}

// reasonOf returns the reason in a header, or "".
func reasonOf(header http.Header) (string, error) {
	sent := strings.Join(header.Values(ReasonHeader), ",")
	text, err := url.PathUnescape(sent)
	if err != nil || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) ||
		utf8.RuneCountInString(text) > maxReason {
		return "", apierror.Invalid(apierror.At("/headers/"+ReasonHeader,
			"must be percent-encoded UTF-8 of at most %d characters, without control characters", maxReason).Sent(sent))
	}
	return strings.TrimSpace(text), nil
}
