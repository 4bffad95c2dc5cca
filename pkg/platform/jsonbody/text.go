package jsonbody

import (
	"strings"
	"unicode"

	"toggleadmin/pkg/platform/apierror"
)

const textRule = "have no control characters except tabs and line breaks"

// isText reports whether a string has no control characters except tabs and line breaks.
func isText(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return unicode.IsControl(c) && !strings.ContainsRune("\t\n\r", c)
	})
}

// CheckText returns what is wrong with a string outside of a body: the rule of all strings in bodies.
func CheckText(path, s string) []apierror.Detail {
	if isText(s) {
		return nil
	}
	return []apierror.Detail{apierror.At(path, "must "+textRule).Sent(s)}
}
