package template_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/template"
)

const notFound = "NotFoundFunction"

// TestOperations: the seven of the specification, each with the authorizer, and nothing else.
func TestOperations(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"PUT /api/admin/feedback/{id}":               "UpdateFeedbackFunction",
		"GET /api/admin/feature-types":               "ListFeatureTypesFunction",
		"PUT /api/admin/feature-types/{id}/lifetime": "UpdateFeatureTypeLifetimeFunction",
		"GET /api/admin/context":                     "ListContextFieldsFunction",
		"POST /api/admin/service-account/{id}/token": "CreateServiceAccountTokenFunction",
		"GET /api/admin/metrics/traffic/{period}":    "GetTrafficUsageFunction",
		"DELETE /api/admin/user/tokens/{id}":         "DeleteOwnTokenFunction",
	}
	got := map[string]string{}
	for _, route := range mustLoad(t).API.Routes {
		if route.Function == notFound {
			continue
		}
		got[route.Method+" "+route.Path] = route.Function
		if !route.Authorized {
			t.Errorf("%s %s has no authorizer", route.Method, route.Path)
		}
		if route.Method == "ANY" {
			t.Errorf("%s is an operation with all methods", route.Path)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNotFound: every resource, those between the operations' segments too, has exactly one ANY, without an authorizer, that leads to
// not-found. Beside an operation it has the long spelling: sam local would let `any` take the operation.
func TestNotFound(t *testing.T) {
	t.Parallel()
	read := mustLoad(t)
	operations, resources := map[string]bool{}, map[string]bool{"/{proxy+}": true, "/": true}
	for _, route := range read.API.Routes {
		if route.Function != notFound {
			operations[route.Path] = true
			path := ""
			for segment := range strings.SplitSeq(strings.TrimPrefix(route.Path, "/"), "/") {
				path += "/" + segment
				resources[path] = true
			}
		}
	}
	anys := map[string]bool{}
	for _, route := range read.API.Routes {
		if route.Function == notFound {
			anys[route.Path] = true
			if route.Method != "ANY" || route.Authorized {
				t.Errorf("%+v: want ANY without authorizer", route)
			}
		}
	}
	if diff := cmp.Diff(resources, anys); diff != "" {
		t.Errorf("resources without ANY, or ANY without resource:\n%s", diff)
	}
	for path, method := range spellings(t, read) {
		want := "any"
		if operations[path] {
			want = "x-amazon-apigateway-any-method"
		}
		if method != want {
			t.Errorf("%s: the method is spelt %s, want %s", path, method, want)
		}
	}
}

// spellings gives not-found's methods as they stand in the template, by path.
func spellings(t *testing.T, read *samtemplate.Template) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, resource := range read.Resources {
		if resource.LogicalID != notFound {
			continue
		}
		events, ok := resource.Properties["Events"].(map[string]any)
		if !ok {
			t.Fatal("not-found has no events")
		}
		for _, event := range events {
			path, ok := template.At(event, "Properties", "Path").(string)
			if !ok {
				t.Fatalf("%v has no path", event)
			}
			found[path] = template.At(event, "Properties", "Method")
		}
	}
	return found
}
