package apiclient_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/test/helper/assert"
)

// A token is not sent in plain text over a network.
func TestNew(t *testing.T) {
	t.Parallel()
	for address, accepted := range map[string]bool{
		"https://toggles.example.com/dev": true, "http://127.0.0.1:3000": true, "http://toggles.example.com": false,
		"toggles.example.com": false, "": false,
	} {
		_, err := apiclient.New(address, "secret")
		assert.Equal(t, accepted, err == nil)
	}
}

// Errors that pass have the status of an installation that cannot be reached, for which commands can wait.
func TestExplain(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]exitstatus.Status{
		http.StatusServiceUnavailable: exitstatus.Unreachable, http.StatusTooManyRequests: exitstatus.Unreachable,
		http.StatusInternalServerError: exitstatus.Failure, http.StatusForbidden: exitstatus.Denied,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		client, err := apiclient.New(server.URL, "secret")
		assert.OK(t, err)
		assert.Equal(t, want, exitstatus.Of(apiclient.Explain(client.Get(t.Context(), nil, "projects"))))
		server.Close()
	}
}
