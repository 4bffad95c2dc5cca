package client

import (
	"net/http"
	"slices"
	"strings"
)

// allowedMethods are the methods that a page of another origin can use.
const allowedMethods = "GET,HEAD,POST"

// corsMaxAge is how long a browser keeps the response to a preflight request, in seconds.
const corsMaxAge = "86400"

// isForBrowsers reports whether pages can call a path.
func isForBrowsers(path string) bool {
	return path == "/api/frontend" || strings.HasPrefix(path, "/api/frontend/") || strings.HasPrefix(path, "/ofrep/")
}

// allowOrigin sets the headers with which a page of an allowed origin can read the response, errors included.
func (h *Handler) allowOrigin(header http.Header, r *http.Request) {
	switch origin := r.Header.Get("Origin"); {
	case slices.Contains(h.origins, "*"):
		header.Set("Access-Control-Allow-Origin", "*")
	default:
		header.Add("Vary", "Origin")
		if slices.Contains(h.origins, origin) {
			header.Set("Access-Control-Allow-Origin", origin)
		}
	}
	header.Set("Access-Control-Expose-Headers", "ETag, Retry-After")
}

// preflight tells a browser what a page of another origin can send. It needs no credential. The requested
// headers are allowed: * would not cover Authorization.
func preflight(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", allowedMethods)
	if requested := r.Header.Get("Access-Control-Request-Headers"); requested != "" {
		header.Set("Access-Control-Allow-Headers", requested)
		header.Add("Vary", "Access-Control-Request-Headers")
	}
	header.Set("Access-Control-Max-Age", corsMaxAge)
	w.WriteHeader(http.StatusNoContent)
}
