package jsonbody_test

import (
	"errors"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/helper/assert"
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

// bodyTest is a body with the message of its error; "": no error.
type bodyTest struct{ body, message string }

func wantMessages(tb testing.TB, file string, tests []bodyTest) {
	tb.Helper()
	schema := compile(tb, file)
	for _, test := range tests {
		got := ""
		if _, err := schema.Decode([]byte(test.body)); err != nil {
			got = message(tb, err)
		}
		if got != test.message {
			tb.Errorf("%.100s:\n got %q\nwant %q", test.body, got, test.message)
		}
	}
}
