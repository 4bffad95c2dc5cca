// Package assert has the checks that most tests need.
package assert

import (
	"encoding/json"
	"errors"
	"os"
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

// JSON fails the test unless a file contains the JSON form of a value, and prints how they differ.
func JSON(tb testing.TB, path string, got any) {
	tb.Helper()
	want, err := os.ReadFile(path)
	OK(tb, err)
	content, err := json.MarshalIndent(got, "", "  ")
	OK(tb, err)
	Equal(tb, string(want), string(content)+"\n")
}
