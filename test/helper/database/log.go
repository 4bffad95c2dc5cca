package database

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
)

// Events returns the events in the log, oldest first, in the form
//
//	TYPE SUBJECT by user 7, token 12, request r: DATA before PREDATA
//
// without what an event does not have. Others than users have a name.
func (db *Database) Events(tb testing.TB) (lines []string) {
	tb.Helper()
	err := eventlog.NewReader(db.Log()).All(tb.Context(), eventlog.Filter{}, func(e eventlog.Event) error {
		by := e.By.Name
		if e.By.UserID != 0 {
			by = fmt.Sprintf("user %d", e.By.UserID)
		}
		line := fmt.Sprintf("%s %s by %s", e.Type, e.Subject, by)
		if e.By.TokenID != "" {
			line += ", token " + e.By.TokenID
		}
		if e.RequestID != "" {
			line += ", request " + e.RequestID
		}
		line += ":"
		if e.Data != nil {
			line += " " + string(e.Data)
		}
		if e.PreData != nil {
			line += " before " + string(e.PreData)
		}
		lines = append(lines, line)
		return nil
	})
	assert.OK(tb, err)
	return lines
}

// About returns the events of Events with a subject.
func About(lines []string, subject eventlog.Subject) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, " "+string(subject)+" by ") })
}
