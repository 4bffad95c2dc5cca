// Package enginetest gives tests an engine of their own.
package enginetest

import (
	"testing"

	"toggleadmin/pkg/local/engine"
)

// Start starts an engine in memory, which ends with the test. It takes a few milliseconds, so every test can have its own.
func Start(tb testing.TB) *engine.Engine {
	tb.Helper()
	return StartIn(tb, "")
}

// StartIn starts an engine with its data in the folder; it ends with the test. It may be called again after Stop.
func StartIn(tb testing.TB, dir string) *engine.Engine {
	tb.Helper()
	e, err := engine.Start(tb.Context(), engine.Options{Program: Program(tb), Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Stop)
	return e
}

// Program is the path of the engine's program.
func Program(tb testing.TB) string {
	tb.Helper()
	program, err := engine.Find(".")
	if err != nil {
		tb.Fatal(err)
	}
	return program
}
