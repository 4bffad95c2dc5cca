package client_test

import (
	"net/http"
	"testing"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/test/helper/assert"
)

// A health check needs no token, reads and writes nothing, and is not counted.
func TestHealth(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	through, calls := f.db.Through(t, nil)
	h := f.processThrough(through, 0)
	for method, body := range map[string]string{http.MethodGet: `{"health":"GOOD"}`, http.MethodHead: ""} {
		for _, path := range []string{"/health", "/health/"} {
			got := call(h, method, path, "unknown", "")
			assert.Equal(t, []any{http.StatusOK, "application/json", "no-store", body},
				[]any{got.status, got.header.Get("Content-Type"), got.header.Get("Cache-Control"), got.body})
		}
	}
	assert.Equal(t, http.StatusNotFound, call(h, http.MethodPost, "/health", "", "").status)
	assert.Equal(t, http.StatusNotFound, call(h, http.MethodGet, "/health/x", "", "").status)
	assert.Equal(t, "", calls.Calls())
	assert.Equal(t, usage.Requests{}, f.requests())
}
