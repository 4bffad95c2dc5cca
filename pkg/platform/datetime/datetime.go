// Package datetime reads and writes the date-times of the API (contract section 2): RFC 3339 with an offset or Z in
// requests, and UTC with milliseconds and Z in responses. Stored times have the format of responses, so they sort as
// text.
package datetime

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

const layout = "2006-01-02T15:04:05.000Z"

// ErrSyntax reports a text that is not a date-time.
var ErrSyntax = errors.New("not an RFC 3339 date-time with an offset, in the years 0001 to 9999")

// Format returns t in UTC with milliseconds: 2026-11-20T05:39:00.000Z. It truncates t, it does not round.
func Format(t time.Time) string {
	return t.UTC().Format(layout)
}

// FormatOptional is Format for a time that may be absent: it returns nil for nil.
func FormatOptional(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return new(Format(*t))
}

// Milliseconds returns t in UTC, truncated to milliseconds.
func Milliseconds(t time.Time) time.Time {
	return t.UTC().Truncate(time.Millisecond)
}

// syntax rejects what time.Parse accepts: a comma before the fraction, a one-digit hour, and an offset of 24 hours.
var syntax = regexp.MustCompile(`^[0-9-]{10}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

// Parse reads a date-time in the years 0001 to 9999 of UTC. The letters T and Z may be lower case. Digits of a fraction
// beyond the ninth are ignored.
func Parse(text string) (time.Time, error) {
	if !syntax.MatchString(text) {
		return time.Time{}, ErrSyntax
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	if t = t.UTC(); err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, ErrSyntax
	}
	return t, nil
}
