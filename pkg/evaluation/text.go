package evaluation

import (
	"errors"
	"strings"
)

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
