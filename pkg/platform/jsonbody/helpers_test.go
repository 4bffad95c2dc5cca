package jsonbody_test

import (
	"errors"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/assert"
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

// wantMessage compares an error with the second cell of a row, in which ~ stands for a backquote; empty: no error.
func wantMessage(tb testing.TB, row []string, err error) {
	tb.Helper()
	got := ""
	if err != nil {
		got = strings.ReplaceAll(message(tb, err), "`", "~")
	}
	if got != row[1] {
		tb.Errorf("%.100s: got %q, want %q", row[0], got, row[1])
	}
}
