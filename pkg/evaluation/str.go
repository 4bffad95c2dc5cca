package evaluation

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"toggleadmin/pkg/toggle"
)

// textCondition is the condition of STR_CONTAINS, STR_STARTS_WITH and STR_ENDS_WITH.
type textCondition struct {
	operator   toggle.Operator
	ignoreCase bool
	parts      [][]byte // one of them must match; in lower case if case is ignored
}

func compileText(c *toggle.Constraint) condition {
	text := textCondition{operator: c.Operator, ignoreCase: c.CaseInsensitive}
	for _, value := range c.Values {
		text.parts = append(text.parts, text.append(nil, value))
	}
	return text
}

func (c textCondition) holds(value string) bool {
	var buffer [256]byte // on the stack
	text := c.append(buffer[:0], value)
	for _, part := range c.parts {
		if c.matches(text, part) {
			return true
		}
	}
	return false
}

func (c textCondition) matches(text, part []byte) bool {
	switch c.operator {
	case toggle.OperatorStrStartsWith:
		return bytes.HasPrefix(text, part)
	case toggle.OperatorStrEndsWith:
		return bytes.HasSuffix(text, part)
	default:
		return bytes.Contains(text, part)
	}
}

// append appends a text to a buffer, in lower case if case is ignored.
func (c textCondition) append(buffer []byte, text string) []byte {
	if c.ignoreCase {
		return appendLower(buffer, text)
	}
	return append(buffer, text...)
}

// appendLower appends a text in lower case, with the special cases of Unicode that depend on no language
// (SpecialCasing.txt), as JavaScript and Rust do. strings.ToLower does not know them.
func appendLower(buffer []byte, text string) []byte {
	var previous rune
	for i, r := range text {
		switch r {
		case 'İ':
			buffer = append(buffer, "i\u0307"...)
		case 'Σ':
			next, _ := utf8.DecodeRuneInString(text[i+len("Σ"):])
			if unicode.IsLetter(previous) && !unicode.IsLetter(next) { // at the end of a word
				buffer = append(buffer, "ς"...)
			} else {
				buffer = append(buffer, "σ"...)
			}
		default:
			buffer = utf8.AppendRune(buffer, unicode.ToLower(r))
		}
		previous = r
	}
	return buffer
}

var (
	errEmpty     = errors.New("must not be empty")
	errBackslash = errors.New(`must not end with a backslash: SDKs would turn the toggle off`)
)

// checkText checks a text that a field is compared with. Yggdrasil compiles a state to a language in which a backslash
// before the closing quotation mark of a text escapes it, and turns a toggle off that it cannot compile.
func checkText(value string) error {
	if value == "" {
		return errEmpty
	}
	if strings.HasSuffix(value, `\`) {
		return errBackslash
	}
	return nil
}
