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
	if part := ambiguousPart(value); part != "" {
		return fmt.Errorf("must not contain %s, which SDKs understand differently", part)
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

var (
	regexEscape     = expression(`(?s)^\\([pPx]\{[^}]*\}|.)`)
	regexRepetition = expression(`^\{[0-9]+(,[0-9]*)?\}`)
	regexFlags      = expression(`^\(\?([a-zA-Z-]+\)[*+?{]|\))`) // that are repeated, or none
	classStart      = expression(`^\[\^?\]?`)
	className       = expression(`^\[:\^?[a-z]+:\]`) // such as [:alpha:]
	classOperator   = expression(`^(\[|&&|--|~~)`)   // of Rust
)

// ambiguousPart returns a part of a valid expression that has another meaning in the syntax of Rust, which yggdrasil
// uses (https://docs.rs/regex). It returns an empty text if there is none.
func ambiguousPart(expression string) string {
	inClass := false
	for rest := expression; rest != ""; {
		part := rest[:1]
		switch {
		case part == `\`:
			part = regexEscape().FindString(rest)
			if strings.ContainsAny(part[1:2], "Q<>0123456789") {
				return part
			}
		case inClass && className().MatchString(rest):
			part = className().FindString(rest)
		case inClass && classOperator().MatchString(rest):
			return classOperator().FindString(rest)
		case inClass:
			inClass = part != "]"
		case part == "[":
			part = classStart().FindString(rest)
			inClass = true
		case part == "{" && !regexRepetition().MatchString(rest):
			return part
		case regexFlags().MatchString(rest):
			return regexFlags().FindString(rest)
		}
		rest = rest[len(part):]
	}
	return ""
}
