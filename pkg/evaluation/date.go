package evaluation

import (
	"errors"
	"strings"
	"time"

	"toggleadmin/pkg/toggle"
)

// dateCondition is the condition of DATE_AFTER and of DATE_BEFORE.
type dateCondition struct {
	operator toggle.Operator
	date     time.Time
}

func compileDate(c *toggle.Constraint) condition {
	date, ok := parseDate(c.Value)
	if !ok {
		return never{}
	}
	return dateCondition{c.Operator, date}
}

func (c dateCondition) holds(value string) bool {
	date, ok := parseDate(value)
	return ok && c.holdsAt(date)
}

func (c dateCondition) holdsAt(date time.Time) bool {
	if c.operator == toggle.OperatorDateAfter {
		return date.After(c.date)
	}
	return date.Before(c.date)
}

var errDate = errors.New("must be an RFC 3339 date-time such as 2026-11-20T12:00:00Z, with none or three decimals")

// dateSyntax is what every engine can compile. Yggdrasil rejects lower-case letters and other numbers of decimals.
var dateSyntax = expression(`^[^.a-z]+(\.[0-9]{3})?(Z|[+-][0-9:]+)$`)

func checkDate(value string) error {
	if !dateSyntax().MatchString(value) {
		return errDate
	}
	date, ok := parseDate(value)
	if !ok || date.Year() < 1 || date.Year() > 9999 {
		return errDate
	}
	return nil
}

// rfc3339 rejects what time.Parse accepts: a comma before the decimals, a one-digit hour, and an offset of 24 hours.
var rfc3339 = expression(
	`^[0-9-]{10}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

// parseDate parses an RFC 3339 date-time. The result is in UTC.
func parseDate(text string) (time.Time, bool) {
	if !rfc3339().MatchString(text) {
		return time.Time{}, false
	}
	date, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	if err != nil {
		return time.Time{}, false
	}
	return date.UTC(), true
}
