package lambdahttp

import (
	"bytes"
	"maps"
	"net/http"
)

// response is the buffered writer around a handler: the first WriteHeader wins, the headers are frozen then, a 1xx is no answer, and a
// handler that writes nothing has answered 200. The proxy library's own writer does none of this.
type response struct {
	header http.Header
	frozen http.Header // nil until the status is set
	status int
	body   bytes.Buffer
}

// newResponse starts an answer with the headers that every answer carries (contract, section 2).
func newResponse(requestID string) *response {
	header := make(http.Header, 5)
	header["Cache-Control"] = []string{"no-store"}
	header["X-Content-Type-Options"] = []string{"nosniff"}
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

// replay writes the one answer. The library guesses a Content-Type where none is set, so one always is.
func (w *response) replay(to http.ResponseWriter) {
	w.WriteHeader(http.StatusOK)
	if w.frozen.Get("Content-Type") == "" {
		w.frozen.Set("Content-Type", "application/json")
	}
	maps.Copy(to.Header(), w.frozen)
	to.WriteHeader(w.status)
	_, _ = to.Write(w.body.Bytes()) // a buffer, too
}
