package deploy_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// flaw is one thing wrong with a template, built or not.
type flaw struct {
	name  string
	apply func(t *testing.T, d *document)
	// signs are in what a deployed stack's failing check says of it, all of them: the function's name, a script's.
	signs  []string
	test   string  // of `make test`, which finds it without a deployment
	checks []check // in the order in which they are tried until one fails; none: the stack cannot even be deployed
}

// flaws are one of each kind, besides permissions.
func flaws() []flaw {
	scripts := checks()[:1]
	return []flaw{
		{"a wrong table in a function's variables", func(t *testing.T, d *document) {
			t.Helper()
			d.set(t, map[string]string{"Ref": "ContextFields"},
				"Resources", "ListFeatureTypesFunction", "Properties", "Environment", "Variables", "FEATURE_TYPES_TABLE")
		}, []string{"the script feature-types-list failed", "ListFeatureTypesFunction logged", "AccessDenied"}, "TestPolicies", scripts},
		{"a wrong route", func(t *testing.T, d *document) {
			t.Helper()
			d.set(t, "/api/admin/feedbacks/{id}", "Resources", "UpdateFeedbackFunction", "Properties", "Events", "Operation", "Properties", "Path")
		}, []string{"the script feedback failed", "PUT /api/admin/feedback/", "404"}, "TestOperations", scripts},
		{"an operation without the authorizer", func(t *testing.T, d *document) {
			t.Helper()
			d.set(t, map[string]string{"Authorizer": "NONE"},
				"Resources", "ListFeatureTypesFunction", "Properties", "Events", "Operation", "Properties", "Auth")
		}, []string{"the script credentials failed", "the script feature-types-list failed", "answered with 401"}, "TestOperations", scripts},
		{"no authorizer at all", func(t *testing.T, d *document) {
			t.Helper()
			d.remove(t, "Resources", "Api", "Properties", "Auth", "DefaultAuthorizer")
		}, []string{"sam deploy: ", "DefaultAuthorizer"}, "TestOperations", nil},
		{"no gateway response for what the authorizer denies", func(t *testing.T, d *document) {
			t.Helper()
			d.remove(t, "Resources", "Api", "Properties", "GatewayResponses", "ACCESS_DENIED")
		}, []string{"the script credentials failed", "answered with 403"}, "TestGatewayResponses", scripts},
	}
}

// samplePermission is the function with one permission, which is taken from it where not all are tried.
const samplePermission = "ListContextFieldsFunction"

// without is the flaw of a permission that is missing.
func (d *document) without(p permission) flaw {
	order := append([]check{{"the end-to-end scripts over HTTP", tryScripts(1)}}, checks()[1:]...)
	if !d.servesAPI(p.function) {
		order = order[1:]
	}
	return flaw{
		"without " + p.String(),
		func(t *testing.T, d *document) {
			t.Helper()
			for _, other := range d.permissions() {
				if other.String() == p.String() {
					other.take()
					return
				}
			}
			t.Fatalf("the template does not grant %s", p)
		},
		[]string{p.function + " logged", "AccessDenied", p.action}, "TestPoliciesGrantExactlyWhatTheScriptsUse", order,
	}
}

// servesAPI says whether requests lead to a function, as one of the API's or as its authorizer.
func (d *document) servesAPI(function string) bool {
	events := d.get("Resources", function, "Properties", "Events")
	for _, name := range keys(events) {
		if text(get(events, name, "Type")) == "Api" {
			return true
		}
	}
	return strings.Contains(text(d.get("Resources", "Api", "Properties", "Auth")), function)
}

// TestBrokenTemplates deploys templates with a flaw each: the checks of the stack must fail, and say what it is. Without PERMISSIONS=all it
// is one, a permission; all are for the soak.
func TestBrokenTemplates(t *testing.T) { //nolint:paralleltest // one emulator
	tools := needTools(t)
	template := readDocument(t, tools.template())
	all := flaws()
	// The emulator reads streams by its own right, whatever the role says: `make test` holds those permissions.
	granted := slices.DeleteFunc(template.permissions(), func(p permission) bool {
		return strings.Contains(strings.ToLower(p.resource), "stream")
	})
	for _, p := range granted {
		all = append(all, template.without(p))
	}
	if os.Getenv("PERMISSIONS") != "all" {
		all = nil
		for _, p := range granted {
			if p.function == samplePermission {
				all = []flaw{template.without(p)}
			}
		}
	}
	e := start(t, tools)
	var s *stack
	for _, f := range all {
		part(t, f.name, func(t *testing.T) {
			deployed, err := e.tryDeploy(t, deployment{environment: "default", name: "broken", change: func(d *document) { f.apply(t, d) }})
			var said string
			if f.checks == nil && err != nil {
				said = err.Error()
			} else {
				must(t, err)
				if s != nil { // the same tables
					deployed.credentials = s.credentials
				}
				s = deployed
				must(t, s.seed(t.Context()))
				must(t, s.deleteAccountTokens(t.Context()))
				said = s.firstFailure(t, f.checks)
			}
			for _, sign := range f.signs {
				if !strings.Contains(said, sign) {
					t.Errorf("nothing says %q: %s", sign, said)
				}
			}
			report(said)
		})
	}
}

// firstFailure tries the checks until one fails, and gives what it and the functions say.
func (s *stack) firstFailure(t *testing.T, order []check) string {
	t.Helper()
	const enough = 15 * time.Second // for what does not come: on a busy machine it may be late, and the function says why anyway
	for _, c := range order {
		started := time.Now()
		if err := c.try(t.Context(), s, enough); err != nil {
			return c.name + ": " + strings.Join(append([]string{err.Error()}, s.faults(t, started)...), "\n")
		}
	}
	t.Error("every check passed")
	return ""
}
