package deploy_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/pat"
)

// defect is an error in a template.
type defect struct {
	name  string
	apply func(t *testing.T, d *document)
	signs []string // what a failed check, or sam, reports: all of these
}

// set is a defect that sets a value, or with nil removes it.
func set(path string, value any) func(*testing.T, *document) {
	return func(t *testing.T, d *document) { d.set(t, path, value) }
}

var defects = []defect{
	{
		"a wrong table in a function's variables",
		set("Resources.ListFeatureTypesFunction.Properties.Environment.Variables.FEATURE_TYPES_TABLE",
			map[string]any{"Ref": "ContextFields"}),
		[]string{"--- FAIL: TestScripts/feature-types-list", "ListFeatureTypesFunction logged", "AccessDenied"},
	},
	{
		"a wrong route",
		set("Resources.UpdateFeedbackFunction.Properties.Events.Operation.Properties.Path", "/api/admin/feedbacks/{id}"),
		[]string{"--- FAIL: TestScripts/feedback", "PUT /api/admin/feedback/", "404"},
	},
	{
		"an operation without the authorizer",
		set("Resources.ListFeatureTypesFunction.Properties.Events.Operation.Properties.Auth",
			map[string]any{"Authorizer": "NONE"}),
		[]string{"--- FAIL: TestScripts/credentials", "--- FAIL: TestScripts/feature-types-list", "returned 401"},
	},
	{"no default authorizer", set("Resources.Api.Properties.Auth.DefaultAuthorizer", nil),
		[]string{"sam deploy: ", "DefaultAuthorizer"}},
	{
		"no gateway response for ACCESS_DENIED",
		set("Resources.Api.Properties.GatewayResponses.ACCESS_DENIED", nil),
		[]string{"--- FAIL: TestScripts/credentials", "returned 403"},
	},
}

// TestBrokenTemplates deploys templates with one defect each. A check must fail and report the defect. By default, the
// defects are the permissions of one function. PERMISSIONS=all tests all defects and all permissions.
func TestBrokenTemplates(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t)
	all := os.Getenv("PERMISSIONS") == "all"
	var tried []defect
	if all {
		tried = defects
	}
	for _, p := range readDocument(t, e.build+"/template.yaml").permissions() {
		if all || p.function == "ListContextFieldsFunction" {
			deny := func(t *testing.T, d *document) { d.deny(t, p) }
			tried = append(tried,
				defect{"without " + p.String(), deny, []string{p.function + " logged", "AccessDenied", p.action}})
		}
	}
	if len(tried) == 0 {
		t.Fatal("the template grants no permissions")
	}
	previous := &stack{}
	for _, broken := range tried {
		part(t, broken.name, func(t *testing.T) {
			var failure string
			s, err := e.tryDeploy(t, deployment{environment: "default", name: "broken",
				change: func(d *document) { broken.apply(t, d) }})
			if err != nil {
				failure = err.Error()
			} else {
				s.credentials, previous = previous.credentials, s // the tables are the same
				must(t, s.seed())
				s.deleteAccountTokens(t)
				failure = s.firstFailure(t)
			}
			for _, sign := range broken.signs {
				if !strings.Contains(failure, sign) {
					t.Errorf("%q is not reported: %s", sign, failure)
				}
			}
			report(failure)
		})
	}
}

// firstFailure runs the checks until one fails, and returns its error and what functions logged.
func (s *stack) firstFailure(t *testing.T) string {
	t.Helper()
	const wait = 15 * time.Second
	for _, c := range checks {
		started := time.Now()
		if err := c.run(s, wait); err != nil {
			return fmt.Sprint(c.name, ": ", err, "\n", s.loggedErrors(t, started))
		}
	}
	t.Error("every check passed")
	return ""
}

// deleteAccountTokens deletes the tokens of the service account. Without permissions, scripts cannot delete theirs.
func (s *stack) deleteAccountTokens(t *testing.T) {
	t.Helper()
	store := pat.NewStore(s.db, s.tables, eventlog.New(s.db, s.tables, time.Now, 0), rand.Reader)
	all, err := store.List(t.Context())
	must(t, err)
	for _, p := range all {
		if p.UserID == s.credentials.ServiceAccounts[0].ID {
			must(t, store.Delete(t.Context(), pat.AnyKind, p.UserID, p.ID))
		}
	}
}
