//go:build !linux

package toggleadmin_test

import "github.com/rogpeppe/go-internal/testscript"

func terminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Logf("not tried: terminals are made another way here")
	ts.Fatalf("guard this line by [linux]")
}
