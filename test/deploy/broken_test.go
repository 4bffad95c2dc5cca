package deploy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestDeniedPermissions denies a function the permissions of its role: the other tests mean something only if the
// emulator enforces policies. Package test/usage checks that each permission is granted that a function uses.
func TestDeniedPermissions(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t)
	started := time.Now()
	s := e.deploy(t, deployment{environment: "default", change: func(template *document) {
		const path = "Resources.ListContextFieldsRole.Properties.Policies.0.PolicyDocument.Statement"
		allowed, _ := at(template.root, path).([]any)
		denied := map[string]any{"Effect": "Deny", "Action": []any{"dynamodb:*"}, "Resource": []any{"*"}}
		template.set(t, path, append(allowed, denied))
	}})
	must(t, s.seed())
	_, err := s.request(http.MethodGet, "/api/admin/context", "", http.StatusServiceUnavailable, nil)
	must(t, err)
	if logged := fmt.Sprint(s.loggedErrors(t, started)); !strings.Contains(logged, "ListContextFieldsFunction logged") ||
		!strings.Contains(logged, "AccessDenied") {
		t.Errorf("without permissions, the functions have logged %s", logged)
	}
}
