package jsonbody

import (
	"encoding/json"
	"strconv"
	"strings"
)

const (
	hugeInteger = "1000000000000000000000" // beyond every bound of our schemas and every 64-bit integer
	noInteger   = 0.5
	// maxExponent keeps sums with the length of a body from overflowing.
	maxExponent = 1_000_000_000
)

// validatable is value as the validator takes it, with float64 for numbers. Every number of our schemas is an integer, so one that is
// none becomes another that is none, and no rounding makes an integer of it.
func validatable(value any) any {
	switch value := value.(type) {
	case json.Number:
		digits, ok := integral(value)
		if !ok {
			return noInteger
		}
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil { // integral gives digits, and few
			return noInteger
		}
		return f
	case []any:
		list := make([]any, len(value))
		for i, v := range value {
			list[i] = validatable(v)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(value))
		for name, v := range value {
			object[name] = validatable(v)
		}
		return object
	}
	return value
}

// integral gives the digits of a number that is an integer, in whatever form it was sent: 1.0 and 1e2 are. One that 64 bits do not hold
// is a huge one of its sign: 1e999999999 must not take a gigabyte.
func integral(n json.Number) (digits string, ok bool) {
	sign, text := "", n.String()
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	mantissa, exponentText, _ := strings.Cut(strings.ToLower(text), "e")
	whole, decimals, _ := strings.Cut(mantissa, ".")
	all := strings.TrimLeft(whole+decimals, "0")
	significant := strings.TrimRight(all, "0")
	exponent, _ := strconv.Atoi(exponentText) // out of range it is the nearest int; absent it is 0
	exponent = max(-maxExponent, min(exponent, maxExponent))
	zeros := exponent - len(decimals) + len(all) - len(significant) // the number is significant × 10^zeros
	switch {
	case significant == "":
		return "0", true
	case zeros < 0:
		return "", false
	case len(significant)+zeros >= len(hugeInteger):
		return sign + hugeInteger, true
	}
	return sign + significant + strings.Repeat("0", zeros), true
}

// integer reads a number that the schema found to be an integer. It is an error where 64 bits do not hold it.
func integer(n json.Number) (int64, error) {
	digits, ok := integral(n)
	if !ok {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(digits, 10, 64)
}
