package apierror

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

const (
	maxEcho  = 100 // characters
	redacted = "[redacted]"
)

var (
	// credential matches the selector of an API token or PAT (22 characters), and the header of a JWT with the start of
	// its payload.
	credential = regexp.MustCompile(`v2_[\w-]{22}|eyJ[\w-]*\.[\w-]`)
	escape     = regexp.MustCompile(`%[[:xdigit:]]{2}`)
)

// Echo returns a client's value for use in a message: truncated to 100 characters, or a placeholder if it contains
// text in the form of a credential, percent-encoded or not (contract section 1).
func Echo(value string) string {
	decoded := escape.ReplaceAllStringFunc(value, func(sent string) string {
		c, _ := hex.DecodeString(sent[1:]) // the pattern matches hexadecimal digits only
		return string(c)
	})
	if credential.MatchString(value) || credential.MatchString(decoded) {
		return redacted
	}
	characters := 0
	for i := range value {
		if characters == maxEcho {
			return value[:i] + "…"
		}
		characters++
	}
	return value
}

// Listed returns names for a message: the first ones, and the number of the others.
func Listed(names []string) string {
	const most = 10
	quoted := make([]string, min(len(names), most))
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%q", Echo(names[i]))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
