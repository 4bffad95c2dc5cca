package template_test

import (
	"testing"

	"toggleadmin/pkg/samtemplate"
)

const root = "../../"

// mustLoad reads the real template with its defaults.
func mustLoad(tb testing.TB) *samtemplate.Template {
	tb.Helper()
	read, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	return read
}

// ofType gives the resources of a type.
func ofType(read *samtemplate.Template, typ string) []samtemplate.Resource {
	var found []samtemplate.Resource
	for _, resource := range read.Resources {
		if resource.Type == typ {
			found = append(found, resource)
		}
	}
	return found
}
