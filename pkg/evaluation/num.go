package evaluation

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"toggleadmin/pkg/toggle"
)

// numberCondition is the condition of NUM_EQ, NUM_GT, NUM_GTE, NUM_LT and NUM_LTE.
type numberCondition struct {
	operator toggle.Operator
	number   float64
}

func compileNumber(c *toggle.Constraint) condition {
	number, ok := parseNumber(c.Value)
	if !ok {
		return never{}
	}
	return numberCondition{c.Operator, number}
}

func (c numberCondition) holds(value string) bool {
	number, ok := parseNumber(value)
	if !ok {
		return false
	}
	switch c.operator {
	case toggle.OperatorNumGt:
		return number > c.number
	case toggle.OperatorNumGte:
		return number >= c.number
	case toggle.OperatorNumLt:
		return number < c.number
	case toggle.OperatorNumLte:
		return number <= c.number
	default:
		return math.Abs(number-c.number) < epsilon
	}
}

var errNumber = errors.New("must be a number such as 5, -0.5 or 2e3")

// epsilon is the difference below which two numbers are equal, as in yggdrasil (Rust's f64::EPSILON).
const epsilon = 0x1p-52

// numberSyntax is what every engine can compile.
var numberSyntax = expression(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func checkNumber(value string) error {
	if !numberSyntax().MatchString(value) {
		return errNumber
	}
	number, ok := parseNumber(value)
	if !ok || math.IsInf(number, 0) {
		return errNumber
	}
	return nil
}

// parseNumber parses a decimal number. Like Rust, and unlike strconv.ParseFloat, it accepts neither hexadecimal digits
// nor underscores, and a number beyond the greatest one is infinite. Unlike Rust, it does not accept inf and nan.
func parseNumber(text string) (float64, bool) {
	if !isDecimal(text) {
		return 0, false
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return number, true
}

// isDecimal reports whether a text is a decimal number: digits with an optional sign, point and exponent. It does not
// allocate memory, as the errors of strconv do.
func isDecimal(text string) bool {
	mantissa := text
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		mantissa = text[:e]
		exponent := withoutSign(text[e+1:])
		if exponent == "" || !areDigits(exponent) {
			return false
		}
	}
	whole, fraction, _ := strings.Cut(withoutSign(mantissa), ".")
	if whole == "" && fraction == "" {
		return false
	}
	return areDigits(whole) && areDigits(fraction)
}

func withoutSign(number string) string {
	if number != "" && (number[0] == '+' || number[0] == '-') {
		return number[1:]
	}
	return number
}

// areDigits reports whether a text has no other characters than the digits 0 to 9.
func areDigits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
