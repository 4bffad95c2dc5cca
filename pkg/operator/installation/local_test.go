package installation_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/helper/assert"
)

// A local service of another version lacks tables.
func TestOtherLocalService(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	dir := t.TempDir()
	assert.OK(t, os.WriteFile(filepath.Join(dir, "local.json"), fmt.Appendf(nil,
		`{"baseUrl":%q,"dynamodbEndpoint":%q,"tables":{"FeatureTypes":"FeatureTypes"}}`, server.URL, server.URL), 0o600))
	_, err := installation.OpenLocal(t.Context(), dir)
	if exitstatus.Of(err) != exitstatus.Unreachable ||
		!strings.HasSuffix(err.Error(), "local.json lacks the table Feedback: restart `make run`, which creates it") {
		t.Errorf("error %v", err)
	}
}
