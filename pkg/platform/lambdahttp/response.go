package lambdahttp

import (
	"bytes"
	"maps"
	"net/http"
	"strings"
)

// response buffers the response of a handler with the semantics of net/http, which the writer of the proxy library does
// not have: the first WriteHeader counts and freezes the headers, 1xx statuses are ignored, and the default status is
// 200.
type response struct {
	header http.Header
	frozen http.Header // nil until the status is set
	status int
	body   bytes.Buffer
}

// newResponse returns a response with the headers that all responses have (api/openapi.yaml, Responses).
func newResponse(requestID string) *response {
	header := http.Header{"Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"}}
	if requestID != "" {
		header["X-Request-Id"] = []string{requestID}
	}
	return &response{header: header}
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.frozen != nil || status < http.StatusOK {
		return
	}
	w.status, w.frozen = status, maps.Clone(w.header)
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// discard discards what was written, except the headers that say who can read the response.
func (w *response) discard() {
	kept := newResponse(w.header.Get("X-Request-Id"))
	for name, values := range w.header {
		if name == "Vary" || strings.HasPrefix(name, "Access-Control-") {
			kept.header[name] = values
		}
	}
	*w = *kept
}

// copyTo writes the response, which has a status, to a writer of the proxy library, which fails without a status and
// guesses a missing Content-Type.
func (w *response) copyTo(to http.ResponseWriter) {
	if w.frozen.Get("Content-Type") == "" && w.body.Len() > 0 {
		w.frozen.Set("Content-Type", "application/json")
	}
	maps.Copy(to.Header(), w.frozen)
	to.WriteHeader(w.status)
	if w.body.Len() > 0 {
		_, _ = to.Write(w.body.Bytes()) // writes to a buffer
	}
}

// Optional returns a text as responses contain it: null instead of an empty one.
func Optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
