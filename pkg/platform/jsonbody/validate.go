package jsonbody

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/spelling"
)

// maxUnknown is the number of unknown properties of an object that an error names.
const maxUnknown = 10

// validate returns what is wrong with the value at a JSON pointer, and whether the value itself is valid. The properties
// of an object and the elements of an array are checked only if the value itself is valid, which limits their number.
// Invalid properties are removed from their object. An invalid element does not make its array invalid.
func (n *node) validate(pointer string, value any) (violations []apierror.Detail, valid bool) {
	for _, c := range n.checks {
		if !c.valid(value) {
			violations = append(violations,
				apierror.At(pointer, "must %s", c.must).Violating(c.keyword, c.limit).SentJSON(echo(value)))
		}
	}
	if violations != nil {
		return violations, false
	}
	switch value := value.(type) {
	case map[string]any:
		violations = n.validateObject(pointer, value)
	case []any:
		for i, element := range value {
			found, _ := n.elements.validate(fmt.Sprintf("%s/%d", pointer, i), element)
			violations = append(violations, found...)
		}
	}
	return violations, true
}

func (n *node) validateObject(pointer string, object map[string]any) (violations []apierror.Detail) {
	for _, p := range n.properties {
		place := pointer + "/" + p.name
		value, sent := object[p.name]
		switch {
		case sent:
			violations = append(violations, p.value.validateProperty(place, object, p.name, value)...)
		case p.required:
			violations = append(violations, apierror.Missing(place))
		}
	}
	if !n.closed && n.others == nil {
		return violations
	}
	unknown := 0
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, declared := slices.BinarySearch(n.declared, name); declared {
			continue
		}
		place := Join(pointer, apierror.Echo(name))
		if n.others != nil {
			violations = append(violations, n.others.validateProperty(place, object, name, object[name])...)
			continue
		}
		if unknown == maxUnknown {
			break
		}
		unknown++
		violations = append(violations, unknownProperty(place, name, n.declared))
	}
	return violations
}

// validateProperty validates the value of a property, and removes the property from the object if the value itself is
// invalid.
func (n *node) validateProperty(place string, object map[string]any, name string, value any) []apierror.Detail {
	violations, valid := n.validate(place, value)
	if !valid {
		delete(object, name)
	}
	return violations
}

// Join returns the JSON pointer of a property of the object at a JSON pointer.
func Join(pointer, name string) string { return string(jsontext.Pointer(pointer).AppendToken(name)) }

// unknownProperty names the declared property that is closest to an unknown one, if the two are similar.
func unknownProperty(place, name string, declared []string) apierror.Detail {
	text := "is unknown"
	if closest := spelling.Closest(name, declared); closest != "" {
		text += "; the closest one is `" + closest + "`"
	}
	return apierror.At(place, "%s", text).Violating("additionalProperties", nil)
}
