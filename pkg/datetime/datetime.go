// Package datetime reads and writes the API's date-time: RFC 3339 with a mandatory offset or Z coming in, always UTC with
// milliseconds and Z going out (contract, section 2). The same form is stored, so that stored times compare as text.
package datetime

import (
	"errors"
	"strings"
	"time"
)

// layout is the one form that leaves the service. Format cuts finer fractions off, it does not round.
const layout = "2006-01-02T15:04:05.000Z"

// ErrSyntax says that a text is not a date-time of the contract.
var ErrSyntax = errors.New("not an RFC 3339 date-time with an offset, in the years 0001 to 9999")

// Format gives t in UTC with milliseconds: 2026-11-20T05:39:00.000Z.
func Format(t time.Time) string {
	return t.UTC().Format(layout)
}

// Milliseconds cuts what is finer than a millisecond off t and moves it to UTC: the value that is stored and answered.
func Milliseconds(t time.Time) time.Time {
	return t.UTC().Truncate(time.Millisecond)
}

// Parse reads a date-time. The letters T and Z may be lower case; digits of a fraction beyond the ninth are cut off. time.Parse alone
// is too generous: it takes a comma before the fraction, a one-digit hour, an offset of 24 hours and a year that is 10000 in UTC.
func Parse(text string) (time.Time, error) {
	const seconds = len("2006-01-02T15:04:05")
	if len(text) <= seconds || !matches(text[:seconds], "dddd-dd-ddTdd:dd:dd") {
		return time.Time{}, ErrSyntax
	}
	rest := text[seconds:]
	fraction := ""
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		if n == 1 {
			return time.Time{}, ErrSyntax
		}
		fraction, rest = rest[:min(n, len(".123456789"))], rest[n:]
	}
	switch {
	case rest == "Z" || rest == "z":
	case matches(rest, "+dd:dd") && rest[1:3] <= "23" && rest[4:6] <= "59":
	default:
		return time.Time{}, ErrSyntax
	}
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text[:seconds])+fraction+strings.ToUpper(rest))
	if err != nil {
		return time.Time{}, ErrSyntax
	}
	t = t.UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, ErrSyntax
	}
	return t, nil
}

// matches compares text with a shape: d is a digit, + is a sign, T is a T in either case, all else is itself.
func matches(text, shape string) bool {
	if len(text) != len(shape) {
		return false
	}
	for i := range len(text) {
		c := text[i]
		switch shape[i] {
		case 'd':
			if !isDigit(c) {
				return false
			}
		case '+':
			if c != '+' && c != '-' {
				return false
			}
		case 'T':
			if c != 'T' && c != 't' {
				return false
			}
		default:
			if c != shape[i] {
				return false
			}
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
