// Package constraint reads the constraints of a body, and checks that each SDK can evaluate them. The JSON Schema of the
// operation has checked the types of their properties and the operator.
package constraint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

// maxValue is the maximum number of characters of a value, except of a regular expression.
const maxValue = 100

// ParseAll reads the constraints at a JSON pointer of a body. violations describe what is wrong.
func ParseAll(pointer string, elements []jsonbody.Object) (all []toggle.Constraint, violations []apierror.Detail) {
	all = []toggle.Constraint{}
	for i, element := range elements {
		c, found := Parse(fmt.Sprintf("%s/%d", pointer, i), element)
		all, violations = append(all, c), append(violations, found...)
	}
	return all, violations
}

// Rule is the rule that the constraints in a property of a body are valid.
func Rule(property string) jsonbody.Rule {
	return func(body jsonbody.Object) []apierror.Detail {
		_, violations := ParseAll("/body/"+property, body.Objects(property))
		return violations
	}
}

// Parse reads the constraint at a JSON pointer of a body: it trims values and removes duplicate ones. violations
// describe what is wrong.
func Parse(pointer string, body jsonbody.Object) (c toggle.Constraint, violations []apierror.Detail) {
	c = toggle.Constraint{
		ContextName:     body.Text("contextName"),
		Operator:        toggle.Operator(body.Text("operator")),
		Inverted:        body.Bool("inverted"),
		CaseInsensitive: body.Bool("caseInsensitive"),
	}
	if c.Operator == "" { // the schema has rejected it
		return c, nil
	}
	at := func(property string) string { return pointer + "/" + property }
	reject := func(d apierror.Detail) { violations = append(violations, d) }
	check := func(property, value string) {
		if invalid := checkValue(at(property), c.Operator, value); invalid != nil {
			reject(invalid.Sent(value))
		}
	}
	if evaluation.TakesValues(c.Operator) {
		if body.Text("value") != "" {
			reject(apierror.At(at("value"), "must not be sent with the operator %s, which takes `values`", c.Operator))
		}
		texts := body.Texts("values")
		if len(texts) == 0 {
			reject(apierror.At(at("values"), "must have 1 or more elements with the operator %s", c.Operator).
				Violating("minItems", new(int64(1))))
		}
		for i, text := range texts {
			text = strings.TrimSpace(text)
			check(fmt.Sprintf("values/%d", i), text)
			if !slices.Contains(c.Values, text) {
				c.Values = append(c.Values, text)
			}
		}
		return c, violations
	}
	if len(body.Texts("values")) > 0 {
		reject(apierror.At(at("values"), "must not be sent with the operator %s, which takes `value`", c.Operator))
	}
	c.Value = body.Text("value")
	if c.Operator != toggle.OperatorRegex {
		c.Value = strings.TrimSpace(c.Value)
	} else if c.Inverted {
		reject(apierror.At(at("inverted"), "must be false with the operator REGEX"))
	}
	if !body.Has("value") {
		reject(apierror.At(at("value"), "is required with the operator %s", c.Operator).
			Violating("required", nil).NotSent())
		return c, violations
	}
	check("value", c.Value)
	return c, violations
}

// checkValue returns what is wrong with the value at a JSON pointer, or nil.
func checkValue(pointer string, operator toggle.Operator, value string) *apierror.Detail {
	if operator != toggle.OperatorRegex && utf8.RuneCountInString(value) > maxValue {
		return new(apierror.At(pointer, "must have at most %d characters", maxValue).
			Violating("maxLength", new(int64(maxValue))))
	}
	if value == "" {
		return new(apierror.At(pointer, "must have 1 or more characters").Violating("minLength", new(int64(1))))
	}
	if err := evaluation.CheckValue(operator, value); err != nil {
		return new(apierror.At(pointer, "%v", err))
	}
	return nil
}

// Fields returns the context fields that constraints name, sorted, without those that every context has.
func Fields(all []toggle.Constraint) []string {
	names := map[string]bool{}
	for _, c := range all {
		if !toggle.IsFixedField(c.ContextName) {
			names[c.ContextName] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Names returns all names of fields in constraints, sorted.
func Names(all []toggle.Constraint) []string {
	names := map[string]bool{}
	for _, c := range all {
		names[c.ContextName] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// CheckFields returns an error of the kind Validation if constraints at a JSON pointer of a body name a field that does
// not exist, or a value that is not one of its legal values. fields are those with the names of Names that exist.
func CheckFields(pointer string, all []toggle.Constraint, fields map[string]contextfield.ContextField) error {
	var violations []apierror.Detail
	for i, c := range all {
		violations = append(violations, checkField(fmt.Sprintf("%s/%d", pointer, i), c, fields)...)
	}
	return apierror.InvalidIfAny(violations)
}

// IsStickinessField reports whether a stickiness is the name of a context field, which must have stickiness. Strategies
// can have the others without a field.
func IsStickinessField(stickiness string) bool {
	switch stickiness {
	case "", toggle.StickinessDefault, toggle.StickinessRandom, toggle.FieldUserID, toggle.FieldSessionID:
		return false
	}
	return true
}

// PermitsStickiness reports whether a strategy can have a stickiness. fields are the context fields that exist, by name.
func PermitsStickiness(stickiness string, fields map[string]contextfield.ContextField) bool {
	if IsStickinessField(stickiness) {
		return fields[stickiness].Stickiness
	}
	return stickiness != ""
}

func checkField(
	pointer string, c toggle.Constraint, fields map[string]contextfield.ContextField,
) (violations []apierror.Detail) {
	f, exists := fields[c.ContextName]
	if !exists && !toggle.IsFixedField(c.ContextName) {
		return []apierror.Detail{
			apierror.At(pointer+"/contextName", "must be the name of a context field").Sent(c.ContextName),
		}
	}
	for i, value := range c.Values {
		if !f.Permits(c.Operator, value) {
			violations = append(violations, apierror.At(fmt.Sprintf("%s/values/%d", pointer, i),
				"must be a legal value of the context field %q", c.ContextName).Sent(value))
		}
	}
	return violations
}
