package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
)

// The checks of every tab are themselves checked with a page that does everything wrong.
func TestTabReportsProblems(t *testing.T) {
	t.Parallel()
	chromium.context(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; connect-src *; style-src 'unsafe-inline'")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<!DOCTYPE html><link rel="icon" href="data:,"><p>Ready<script `+
				`src="a.js"></script><script>inline()</script>`)
		case "/a.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `console.error("an error"); setTimeout(() => { throw new Error("uncaught") }); `+
				`fetch("http://other.invalid/"); fetch("missing")`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	b := openTab(t, &service{Running: local.Running{BaseURL: server.URL}})
	b.visit("/")
	for _, want := range []string{"an error", "uncaught", "request to http://other.invalid/", "404 (Not Found)",
		"Content Security Policy"} {
		b.await("the tab reports "+want, func() (bool, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.ContainsFunc(b.problems, func(problem string) bool { return strings.Contains(problem, want) }), nil
		})
	}
	b.mayLog("")
}
