package template_test

import (
	"testing"

	"toggleadmin/pkg/samtemplate"
)

const root = "../../"

// mustLoad reads the real template with its defaults.
func mustLoad(tb testing.TB) *samtemplate.Template {
	tb.Helper()
	template, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	return template
}

// ofType gives the resources of a type.
func ofType(template *samtemplate.Template, typ string) []samtemplate.Resource {
	var found []samtemplate.Resource
	for _, resource := range template.Resources {
		if resource.Type == typ {
			found = append(found, resource)
		}
	}
	return found
}

// at walks through maps; what is not there is nil.
func at(value any, keys ...string) any {
	for _, key := range keys {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = fields[key]
	}
	return value
}
