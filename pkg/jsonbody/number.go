package jsonbody

import (
	"encoding/json"
	"strconv"
	"strings"
)

const (
	plainNumber = 40                       // characters that a number without exponent may have to be taken as it is
	hugeInteger = "1000000000000000000000" // beyond every bound of our schemas and every 64-bit integer
	noInteger   = "0.5"
	// maxExponent keeps sums with the length of a body from overflowing.
	maxExponent = 1_000_000_000
)

// bounded makes a number safe for the validator, which computes a big.Rat of it: one of 1e999999999 would take all memory there is. An
// integer that fits keeps its value; a larger one, and a number that is none, becomes another of its kind and sign.
func bounded(text string) json.Number {
	if len(text) <= plainNumber && !strings.ContainsAny(text, "eE") {
		return json.Number(text)
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	mantissa, exponentText, _ := strings.Cut(strings.ToLower(text), "e")
	whole, decimals, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+decimals, "0")
	significant := strings.TrimRight(digits, "0")
	exponent, _ := strconv.Atoi(exponentText) // out of range it is the nearest int; absent it is 0
	exponent = max(-maxExponent, min(exponent, maxExponent))
	zeros := exponent - len(decimals) + len(digits) - len(significant) // the number is significant × 10^zeros
	switch {
	case significant == "":
		return "0"
	case zeros < 0:
		return json.Number(sign + noInteger)
	case len(significant)+zeros >= len(hugeInteger):
		return json.Number(sign + hugeInteger)
	default:
		return json.Number(sign + significant + strings.Repeat("0", zeros))
	}
}

// integer reads a number that the schema found to be an integer: digits, perhaps with a fraction of zeros.
func integer(n json.Number) (int64, error) {
	whole, _, _ := strings.Cut(n.String(), ".")
	return strconv.ParseInt(whole, 10, 64)
}
