// Package assert has the checks that most tests need.
package assert

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OK ends the test if one of the errors is not nil.
func OK(tb testing.TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

// Equal fails the test if the values differ, and prints how.
func Equal(tb testing.TB, want, got any, options ...cmp.Option) {
	tb.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		tb.Errorf("-want +got:\n%s", diff)
	}
}

// ErrorIs fails the test unless an error is or wraps another one.
func ErrorIs(tb testing.TB, err, want error) {
	tb.Helper()
	if !errors.Is(err, want) {
		tb.Errorf("error %v, want %v", err, want)
	}
}
