package playground

import (
	"maps"
	"slices"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

// query is what a request asks for.
type query struct {
	environments []string // sorted, without duplicates
	projects     []string // nil: all
	fields       Fields
	sampled      []string // the names of toggles
}

func newQuery(body jsonbody.Object) query {
	q := query{
		environments: slices.Compact(slices.Sorted(slices.Values(body.Texts("environments")))),
		fields:       FieldsOf(body),
		sampled:      body.Texts("sample"),
	}
	if list, ok := body["projects"].([]any); ok {
		q.projects = make([]string, 0, len(list))
		q.projects = append(q.projects, body.Texts("projects")...)
	}
	return q
}

func (q query) selects(project string) bool {
	return q.projects == nil || slices.Contains(q.projects, project)
}

// propertiesOf returns the part of the context with the fields that not every context has.
func propertiesOf(body jsonbody.Object) jsonbody.Object {
	context, _ := body["context"].(map[string]any)
	properties, _ := context["properties"].(map[string]any)
	return properties
}

// FieldsOf returns the fields of the context of a body. Those beside properties take precedence.
func FieldsOf(body jsonbody.Object) Fields {
	context, _ := body["context"].(map[string]any)
	fields := Fields{}
	for _, object := range []jsonbody.Object{propertiesOf(body), context} {
		for name := range object {
			if value, ok := object.TextOK(name); ok {
				fields[name] = value
			}
		}
	}
	return fields
}

// NoFixedProperties is the rule that properties have no field that every context has, because SDKs disagree about
// which of two values counts.
func NoFixedProperties(body jsonbody.Object) (violations []apierror.Detail) {
	for _, name := range slices.Sorted(maps.Keys(propertiesOf(body))) {
		if toggle.IsFixedField(name) {
			violations = append(violations,
				apierror.At("/body/context/properties/"+name, "must be sent as `/body/context/%s`", name))
		}
	}
	return violations
}
