package jsonbody_test

import (
	"errors"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func compile(tb testing.TB, file string) *jsonbody.Schema {
	tb.Helper()
	schema, err := jsonbody.Compile([]byte(file))
	assert.OK(tb, err)
	return schema
}

// integers is a schema whose property n is an integer.
const integers = `{"type":"object","properties":{"n":{"type":"integer"}}}`

// message returns the message of a ValidationError.
func message(tb testing.TB, err error) string {
	tb.Helper()
	failed, ok := errors.AsType[*apierror.Error](err)
	if !ok || failed.Kind != apierror.Validation {
		tb.Fatalf("the error is %v, want a ValidationError", err)
	}
	return failed.Message
}

// wantMessages decodes the body in the first cell of each row, and compares the message of the error with the second
// cell, in which ~ stands for a backquote; empty: no error.
func wantMessages(tb testing.TB, file, rows string) {
	tb.Helper()
	schema := compile(tb, file)
	for _, row := range table.Rows(tb, 2, rows) {
		got := ""
		if _, err := schema.Decode([]byte(row[0])); err != nil {
			got = strings.ReplaceAll(message(tb, err), "`", "~")
		}
		if got != row[1] {
			tb.Errorf("%.100s: got %q, want %q", row[0], got, row[1])
		}
	}
}
