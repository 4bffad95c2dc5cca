//go:build !linux

package main_test

import "github.com/rogpeppe/go-internal/testscript"

func typeTokens(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("the command type requires Linux")
}
