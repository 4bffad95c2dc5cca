package evaluation

import (
	"errors"

	"toggleadmin/pkg/toggle"
)

// operator is what the package knows about an operator of constraints.
type operator struct {
	name        toggle.Operator
	takesValues bool // whether a constraint has Values; otherwise, it has Value
	check       func(value string) error
	compile     func(*toggle.Constraint) condition
}

var operators = []operator{
	{toggle.OperatorIn, true, checkText, compileSet},
	{toggle.OperatorNotIn, true, checkText, compileSet},
	{toggle.OperatorStrContains, true, checkText, compileText},
	{toggle.OperatorStrStartsWith, true, checkText, compileText},
	{toggle.OperatorStrEndsWith, true, checkText, compileText},
	{toggle.OperatorNumEq, false, checkNumber, compileNumber},
	{toggle.OperatorNumGt, false, checkNumber, compileNumber},
	{toggle.OperatorNumGte, false, checkNumber, compileNumber},
	{toggle.OperatorNumLt, false, checkNumber, compileNumber},
	{toggle.OperatorNumLte, false, checkNumber, compileNumber},
	{toggle.OperatorDateAfter, false, checkDate, compileDate},
	{toggle.OperatorDateBefore, false, checkDate, compileDate},
	{toggle.OperatorSemverEq, false, checkVersion, compileVersion},
	{toggle.OperatorSemverGt, false, checkVersion, compileVersion},
	{toggle.OperatorSemverGte, false, checkVersion, compileVersion},
	{toggle.OperatorSemverLt, false, checkVersion, compileVersion},
	{toggle.OperatorSemverLte, false, checkVersion, compileVersion},
	{toggle.OperatorRegex, false, checkRegex, compileRegex},
	{toggle.OperatorInCIDR, true, checkNetwork, compileCIDR},
}

// operatorOf returns the operator with a name, or nil if it is unknown.
func operatorOf(name toggle.Operator) *operator {
	for i := range operators {
		if operators[i].name == name {
			return &operators[i]
		}
	}
	return nil
}

// Operators returns the operators of constraints.
func Operators() []toggle.Operator {
	names := make([]toggle.Operator, len(operators))
	for i, o := range operators {
		names[i] = o.name
	}
	return names
}

// TakesValues reports whether a constraint with the operator has Values. With the other operators, it has Value.
func TakesValues(name toggle.Operator) bool {
	o := operatorOf(name)
	return o != nil && o.takesValues
}

// CheckValue returns nil if every SDK can evaluate the value, which is the Value of a constraint with the operator, or
// one of its Values. Otherwise the text of the error continues a sentence that names the value, such as "must be a
// number". The value must be trimmed if its operator is not REGEX. The limit of its length is not checked, except of a
// regular expression.
func CheckValue(name toggle.Operator, value string) error {
	o := operatorOf(name)
	if o == nil {
		return errors.New("has an unknown operator")
	}
	return o.check(value)
}
