package apierror

import (
	"strings"
	"unicode/utf8"
)

const (
	maxEcho    = 100 // characters of a caller's value in an error text
	redacted   = "[redacted]"
	minTokenID = 22 // characters of a token's selector, which stands behind v2_
)

// Echo prepares a caller's value for an error text: longer than 100 characters it is cut, and a value with the shape of a credential is
// never shown (contract, section 1).
func Echo(value string) string {
	if holdsCredential(value) {
		return redacted
	}
	if utf8.RuneCountInString(value) <= maxEcho {
		return value
	}
	end := 0
	for range maxEcho {
		_, size := utf8.DecodeRuneInString(value[end:])
		end += size
	}
	return value[:end] + "…"
}

// holdsCredential finds v2_<selector>… of an API token or PAT and the header of a JWT anywhere in the value. It would rather hide a
// harmless value than show half a secret.
func holdsCredential(value string) bool {
	for rest := value; ; {
		_, after, found := strings.Cut(rest, "v2_")
		if !found {
			break
		}
		if tokenRun(after) >= minTokenID {
			return true
		}
		rest = after
	}
	for rest := value; ; {
		_, after, found := strings.Cut(rest, "eyJ")
		if !found {
			return false
		}
		if n := tokenRun(after); n < len(after) && after[n] == '.' && tokenRun(after[n+1:]) > 0 {
			return true
		}
		rest = after
	}
}

// tokenRun counts the leading characters of base64url.
func tokenRun(s string) int {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return i
		}
	}
	return len(s)
}
