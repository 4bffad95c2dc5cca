package evaluation

import (
	"errors"

	"toggleadmin/pkg/toggle"
)

// Operators returns the operators of constraints.
func Operators() []toggle.Operator {
	return []toggle.Operator{
		toggle.OperatorIn, toggle.OperatorNotIn,
		toggle.OperatorStrContains, toggle.OperatorStrStartsWith, toggle.OperatorStrEndsWith,
		toggle.OperatorNumEq, toggle.OperatorNumGt, toggle.OperatorNumGte, toggle.OperatorNumLt, toggle.OperatorNumLte,
		toggle.OperatorDateAfter, toggle.OperatorDateBefore,
		toggle.OperatorSemverEq, toggle.OperatorSemverGt, toggle.OperatorSemverGte, toggle.OperatorSemverLt,
		toggle.OperatorSemverLte,
		toggle.OperatorRegex,
		toggle.OperatorInCIDR,
	}
}

// TakesValues reports whether a constraint with the operator has Values. With the other operators, it has Value.
func TakesValues(operator toggle.Operator) bool {
	switch operator {
	case toggle.OperatorIn, toggle.OperatorNotIn,
		toggle.OperatorStrContains, toggle.OperatorStrStartsWith, toggle.OperatorStrEndsWith,
		toggle.OperatorInCIDR:
		return true
	default:
		return false
	}
}

// CheckValue returns nil if every SDK can evaluate the value, which is the Value of a constraint with the operator, or
// one of its Values. Otherwise the text of the error continues a sentence that names the value, such as "must be a
// number". The value must be trimmed if its operator is not REGEX. The limit of its length is not checked, except of a
// regular expression.
func CheckValue(operator toggle.Operator, value string) error {
	switch operator {
	case toggle.OperatorIn, toggle.OperatorNotIn,
		toggle.OperatorStrContains, toggle.OperatorStrStartsWith, toggle.OperatorStrEndsWith:
		return checkText(value)
	case toggle.OperatorNumEq, toggle.OperatorNumGt, toggle.OperatorNumGte, toggle.OperatorNumLt, toggle.OperatorNumLte:
		return checkNumber(value)
	case toggle.OperatorDateAfter, toggle.OperatorDateBefore:
		return checkDate(value)
	case toggle.OperatorSemverEq, toggle.OperatorSemverGt, toggle.OperatorSemverGte, toggle.OperatorSemverLt,
		toggle.OperatorSemverLte:
		return checkVersion(value)
	case toggle.OperatorRegex:
		return checkRegex(value)
	case toggle.OperatorInCIDR:
		return checkNetwork(value)
	default:
		return errors.New("has an unknown operator")
	}
}
