package evaluation

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"toggleadmin/pkg/toggle"
)

// regexCondition is the condition of REGEX.
type regexCondition struct{ *regexp.Regexp }

func compileRegex(c *toggle.Constraint) condition {
	pattern := c.Value
	if c.CaseInsensitive {
		pattern = "(?i)" + pattern
	}
	regex, err := regexp.Compile(pattern)
	if err != nil {
		return never{}
	}
	return regexCondition{regex}
}

// holds reports whether the expression matches a part of the value.
func (c regexCondition) holds(value string) bool {
	return c.MatchString(value)
}

// MaxRegex is the maximum number of characters of a regular expression.
const MaxRegex = 1000

var errLongRegex = fmt.Errorf("must not be longer than %d characters", MaxRegex)

func checkRegex(value string) error {
	if value == "" {
		return errEmpty
	}
	if strings.HasSuffix(value, `\`) {
		return errBackslash
	}
	if utf8.RuneCountInString(value) > MaxRegex {
		return errLongRegex
	}
	if _, err := regexp.Compile(value); err != nil {
		return regexError(err)
	}
	return nil
}

func regexError(err error) error {
	const requirement = "must be a regular expression in the syntax of RE2"
	var details *syntax.Error
	if !errors.As(err, &details) {
		return errors.New(requirement)
	}
	return fmt.Errorf("%s: %s: %s", requirement, details.Code, details.Expr)
}
