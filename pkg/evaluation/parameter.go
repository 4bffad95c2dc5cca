package evaluation

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"toggleadmin/pkg/toggle"
)

var (
	errPercentage = errors.New("must be a whole number from 0 to 100")
	errGroup      = errors.New(`must be 1 to 100 ASCII characters, without quotation marks, and without a backslash at the end`)
	errNoEntries  = errors.New("must have at least one entry; commas separate entries")
	errQuotation  = errors.New("must not contain quotation marks: SDKs would turn the toggle off")
	errNull       = errors.New("must not contain U+0000")
)

// EntryError says what is wrong with an entry of a parameter that is a list.
type EntryError struct {
	Entry string
	Err   error // its text continues a sentence that names the entry
}

// Error returns a text that continues a sentence that names the list.
func (e *EntryError) Error() string {
	return fmt.Sprintf("has the entry %.100q, which %v", e.Entry, e.Err)
}

var (
	percentageSyntax = expression(`^([0-9]|[1-9][0-9]|100)$`)

	// groupSyntax is ASCII because the SDK for Node.js hashes other characters differently.
	groupSyntax = expression(`^[\x20\x21\x23-\x7e]{0,99}[\x20\x21\x23-\x5b\x5d-\x7e]$`)
)

// CheckParameter returns nil if every SDK can evaluate the value of a parameter of a strategy. Otherwise the text of the
// error continues a sentence that names the value; an invalid entry of a list is an EntryError. The value of
// toggle.ParameterStickiness is not checked: it can be a context field.
func CheckParameter(name, value string) error {
	switch name {
	case toggle.ParameterRollout, toggle.ParameterPercentage:
		return checkSyntax(value, percentageSyntax(), errPercentage)
	case toggle.ParameterGroupID:
		return checkSyntax(value, groupSyntax(), errGroup)
	case toggle.ParameterIPs:
		return checkEntries(value, checkNetwork)
	case toggle.ParameterUserIDs:
		return checkEntries(value, checkText)
	case toggle.ParameterHostNames:
		return checkEntries(value, checkHostName)
	default:
		return nil
	}
}

func checkSyntax(value string, syntax *regexp.Regexp, err error) error {
	if !syntax.MatchString(value) {
		return err
	}
	return nil
}

func checkEntries(value string, check func(string) error) error {
	entries := Entries(value)
	if len(entries) == 0 {
		return errNoEntries
	}
	for _, entry := range entries {
		if err := check(entry); err != nil {
			return &EntryError{Entry: entry, Err: err}
		}
	}
	return nil
}

func checkHostName(name string) error {
	if strings.Contains(name, `"`) {
		return errQuotation
	}
	if strings.Contains(name, "\x00") {
		return errNull
	}
	return checkText(name)
}

// Entries returns the entries of a parameter that is a list, separated by commas, without blanks around them.
func Entries(list string) []string {
	var entries []string
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}
