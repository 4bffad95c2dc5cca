package apierror

import (
	"encoding/hex"
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

// holdsCredential finds v2_<selector>… of an API token or PAT and the header of a JWT anywhere in the value, percent-encoded too. It would
// rather hide a harmless value than show half a secret. The time it takes is proportional to the value's length.
func holdsCredential(value string) bool {
	plain := unescape(value)
	return holdsToken(value) || holdsJWT(value) || holdsToken(plain) || holdsJWT(plain)
}

func holdsToken(value string) bool {
	for rest := value; ; {
		_, after, found := strings.Cut(rest, "v2_")
		if !found {
			return false
		}
		if tokenRun(after) >= minTokenID {
			return true
		}
		rest = after
	}
}

func holdsJWT(value string) bool {
	for rest := value; ; {
		_, after, found := strings.Cut(rest, "eyJ")
		if !found {
			return false
		}
		n := tokenRun(after)
		if n < len(after) && after[n] == '.' && tokenRun(after[n+1:]) > 0 {
			return true
		}
		rest = after[n:] // another header in the same run would end where this one ends
	}
}

// unescape undoes what is percent-encoded and leaves what is broken.
func unescape(value string) string {
	var text strings.Builder
	for {
		before, after, found := strings.Cut(value, "%")
		text.WriteString(before)
		if !found {
			return text.String()
		}
		if c, err := hex.DecodeString(after[:min(2, len(after))]); err == nil && len(c) == 1 {
			text.Write(c)
			after = after[2:]
		} else {
			text.WriteByte('%')
		}
		value = after
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
