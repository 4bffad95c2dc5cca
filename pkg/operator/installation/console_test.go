package installation_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/pkg/operator/installation"
)

// A large response does not use up the memory: it is read up to a limit, and is none with a code.
func TestLargeCodeResponse(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"unknown":%q,"code":"c"}`, strings.Repeat("x", 1<<20))
	}))
	defer server.Close()
	i := &installation.Installation{BaseURL: server.URL, Option: "--local"}
	_, err := i.ConsoleURL(t.Context())
	if err == nil || !strings.Contains(err.Error(), "without a code for the console") {
		t.Errorf("error %v", err)
	}
}
