package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// prepareConstraints returns constraints as they will be stored, or an error if SDKs cannot evaluate one of them, or a
// context field does not permit it.
func prepareConstraints(
	constraints []toggle.Constraint, fields map[string]contextfield.ContextField,
) ([]toggle.Constraint, error) {
	all := []toggle.Constraint{}
	for _, c := range constraints {
		f, exists := fields[c.ContextName]
		if !exists && !toggle.IsFixedField(c.ContextName) {
			return nil, fmt.Errorf("its constraint names the context field %.100q, which does not exist here",
				c.ContextName)
		}
		prepared, err := prepareConstraint(c)
		if err != nil {
			return nil, fmt.Errorf("its constraint on %s with %.100s %w", c.ContextName, c.Operator, err)
		}
		for _, value := range prepared.Values {
			if !f.Permits(c.Operator, value) {
				return nil, fmt.Errorf("its constraint on %s has %.100q, which is no legal value of the field", c.ContextName,
					value)
			}
		}
		all = append(all, prepared)
	}
	return all, nil
}

// prepareConstraint returns a constraint as it will be stored. The text of its error continues a sentence that names the
// constraint.
func prepareConstraint(c toggle.Constraint) (toggle.Constraint, error) {
	switch {
	case !slices.Contains(evaluation.Operators(), c.Operator):
		return c, errors.New("has an unknown operator")
	case c.Operator == toggle.OperatorRegex && c.Inverted:
		return c, errors.New("is inverted")
	case !evaluation.TakesValues(c.Operator):
		c.Values, c.Value = nil, normalValue(c.Operator, c.Value)
		return c, checkValue(c.Operator, c.Value)
	}
	values := c.Values
	c.Value, c.Values = "", nil
	seen := map[string]bool{}
	for _, value := range values {
		value = strings.TrimSpace(value)
		if err := checkValue(c.Operator, value); err != nil {
			return c, err
		}
		if !seen[value] {
			seen[value] = true
			c.Values = append(c.Values, value)
		}
	}
	if n := len(c.Values); n < 1 || n > toggle.MaxImportedValues {
		return c, fmt.Errorf("has %d values: use 1 to %d", n, toggle.MaxImportedValues)
	}
	return c, nil
}

func checkValue(operator toggle.Operator, value string) error {
	err := evaluation.CheckValue(operator, value)
	if utf8.RuneCountInString(value) > toggle.MaxConstraintValue && operator != toggle.OperatorRegex {
		err = fmt.Errorf("must have at most %d characters", toggle.MaxConstraintValue)
	}
	if err != nil {
		return fmt.Errorf("has the value %.100q, which %w", value, err)
	}
	return nil
}

// normalValue returns the value of a constraint in the form that every SDK can evaluate.
func normalValue(operator toggle.Operator, value string) string {
	if operator == toggle.OperatorRegex {
		return value
	}
	value = strings.TrimSpace(value)
	if operator != toggle.OperatorDateAfter && operator != toggle.OperatorDateBefore {
		return value
	}
	value = strings.ToUpper(value) // T and Z
	if evaluation.CheckValue(operator, value) == nil {
		return value
	}
	if date, err := datetime.Parse(value); err == nil { // with another number of decimals
		return datetime.Format(date)
	}
	return value
}
