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

// The limits of REGEX. The time of an evaluation grows with the product of the last two, and applications without a
// secret choose the values.
const (
	MaxRegex             = 1000 // characters of a regular expression
	maxRegexInstructions = 2000 // of its compiled form; without counted repetitions it has fewer
	maxRegexValue        = 1000 // characters of a value that it is evaluated for
)

// regexCondition is the condition of REGEX.
type regexCondition struct{ *regexp.Regexp }

func compileRegex(c *toggle.Constraint) condition {
	if err := checkRegexSize(c.Value); err != nil {
		return never{}
	}
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

// holds reports whether the expression matches a part of the value. A value that is too long has no match.
func (c regexCondition) holds(value string) bool {
	return !isLonger(value, maxRegexValue) && c.MatchString(value)
}

// isLonger reports whether a text has more than n characters. Its time is bounded by n.
func isLonger(text string, n int) bool {
	return len(text) > n*utf8.UTFMax || len(text) > n && utf8.RuneCountInString(text) > n
}

var errLongRegex = fmt.Errorf("must not be longer than %d characters", MaxRegex)

func checkRegex(value string) error {
	if value == "" {
		return errEmpty
	}
	if strings.HasSuffix(value, `\`) {
		return errBackslash
	}
	if isLonger(value, MaxRegex) {
		return errLongRegex
	}
	if err := checkRegexSize(value); err != nil {
		return err
	}
	if part := ambiguousPart(value); part != "" {
		return fmt.Errorf("must not contain %s, which SDKs understand differently", part)
	}
	return nil
}

// checkRegexSize compiles an expression as package regexp does.
func checkRegexSize(value string) error {
	parsed, err := syntax.Parse(value, syntax.Perl)
	if err != nil {
		return regexError(err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return regexError(err)
	}
	if n := len(program.Inst); n > maxRegexInstructions {
		return fmt.Errorf("must compile to at most %d instructions, and compiles to %d; use lower numbers in repetitions "+
			"such as {1,1000}", maxRegexInstructions, n)
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
