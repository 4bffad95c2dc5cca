// Package constraint reads the constraints of a body, and checks that each SDK can evaluate them. The JSON Schema of the
// operation has checked the types of their properties and the operator.
package constraint

import (
	"errors"
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

// ParseAll reads the constraints at a JSON pointer of a body. violations are sentences that describe what is wrong.
func ParseAll(pointer string, elements []jsonbody.Object) (all []toggle.Constraint, violations []string) {
	all = []toggle.Constraint{}
	for i, element := range elements {
		c, found := Parse(fmt.Sprintf("%s/%d", pointer, i), element)
		all, violations = append(all, c), append(violations, found...)
	}
	return all, violations
}

// Rule is the rule that the constraints in a property of a body are valid.
func Rule(property string) jsonbody.Rule {
	return func(body jsonbody.Object) string {
		_, violations := ParseAll("/body/"+property, body.Objects(property))
		return strings.Join(violations, " ")
	}
}

// Parse reads the constraint at a JSON pointer of a body: it trims values and removes duplicate ones. violations are
// sentences that describe what is wrong.
func Parse(pointer string, body jsonbody.Object) (c toggle.Constraint, violations []string) {
	c = toggle.Constraint{
		ContextName:     body.Text("contextName"),
		Operator:        toggle.Operator(body.Text("operator")),
		Inverted:        body.Bool("inverted"),
		CaseInsensitive: body.Bool("caseInsensitive"),
	}
	if c.Operator == "" { // the schema has rejected it
		return c, nil
	}
	reject := func(property, must string) {
		violations = append(violations, fmt.Sprintf("The `%s/%s` property must %s.", pointer, property, must))
	}
	check := func(property, value string) {
		if err := checkValue(c.Operator, value); err != nil {
			reject(property, fmt.Sprintf("%s; you sent %q", strings.TrimPrefix(err.Error(), "must "), apierror.Echo(value)))
		}
	}
	if evaluation.TakesValues(c.Operator) {
		if body.Text("value") != "" {
			reject("value", fmt.Sprintf("not be sent with the operator %s, which takes `values`", c.Operator))
		}
		texts := body.Texts("values")
		if len(texts) == 0 {
			reject("values", fmt.Sprintf("have 1 or more elements with the operator %s", c.Operator))
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
		reject("values", fmt.Sprintf("not be sent with the operator %s, which takes `value`", c.Operator))
	}
	c.Value = body.Text("value")
	if c.Operator != toggle.OperatorRegex {
		c.Value = strings.TrimSpace(c.Value)
	} else if c.Inverted {
		reject("inverted", "be false with the operator REGEX")
	}
	if !body.Has("value") {
		violations = append(violations, fmt.Sprintf(
			"The `%s/value` property is required with the operator %s; you did not send it.", pointer, c.Operator))
		return c, violations
	}
	check("value", c.Value)
	return c, violations
}

func checkValue(operator toggle.Operator, value string) error {
	if operator != toggle.OperatorRegex && utf8.RuneCountInString(value) > maxValue {
		return fmt.Errorf("must have at most %d characters", maxValue)
	}
	if value == "" {
		return errors.New("must have 1 or more characters")
	}
	return evaluation.CheckValue(operator, value)
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
	var violations []string
	for i, c := range all {
		violations = append(violations, checkField(fmt.Sprintf("%s/%d", pointer, i), c, fields)...)
	}
	return invalid(violations)
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

func invalid(violations []string) error {
	if len(violations) == 0 {
		return nil
	}
	return apierror.New(apierror.Validation, strings.Join(violations, " "))
}

func checkField(pointer string, c toggle.Constraint, fields map[string]contextfield.ContextField) []string {
	f, exists := fields[c.ContextName]
	if !exists && !toggle.IsFixedField(c.ContextName) {
		return []string{fmt.Sprintf("The `%s/contextName` property must be the name of a context field; you sent %q.",
			pointer, apierror.Echo(c.ContextName))}
	}
	var violations []string
	for i, value := range c.Values {
		if !f.Permits(c.Operator, value) {
			violations = append(violations, fmt.Sprintf(
				"The `%s/values/%d` property must be a legal value of the context field %q; you sent %q.",
				pointer, i, c.ContextName, apierror.Echo(value)))
		}
	}
	return violations
}
