package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/test/localtest"
)

// reset runs the script of `make reset`.
func reset(tb testing.TB, dir string) (output string, succeeded bool) {
	tb.Helper()
	script := filepath.Join(filepath.Dir(localtest.Template(tb)), "scripts", "reset.sh")
	if _, err := os.Stat(script); err != nil { // makes the test cache depend on it
		tb.Fatal(err)
	}
	out, err := exec.CommandContext(tb.Context(), script, dir).CombinedOutput()
	return string(out), err == nil
}

func TestReset(t *testing.T) {
	t.Parallel()
	p := serve(t, filepath.Join(t.TempDir(), "data"), "--webhook-url=http://127.0.0.1:1") // with the queue of the webhook
	if out, succeeded := reset(t, p.dir); succeeded ||
		!strings.Contains(out, "process "+strconv.Itoa(p.Process.Pid)+" uses ") {
		t.Errorf("in use: %q", out)
	}
	p.list(t)
	p.stop(t)
	write(t, filepath.Join(p.dir, "lock"), strconv.Itoa(os.Getpid())) // process ids are reused
	foreign := write(t, filepath.Join(p.dir, "thesis.txt"), "not ours")
	if out, succeeded := reset(t, "/etc"); succeeded ||
		out != "reset: /etc contains no data of make run; nothing was deleted\n" {
		t.Errorf("another folder: %q", out)
	}
	lockOnly := t.TempDir()
	write(t, filepath.Join(lockOnly, "lock"), "1")
	if out, succeeded := reset(t, lockOnly); !succeeded || out != "reset: deleted "+lockOnly+"\n" {
		t.Errorf("a folder that has only the lock: %q", out)
	}
	for _, want := range []bool{true, false} { // the second time nothing in the folder is ours
		out, succeeded := reset(t, p.dir)
		if left, _ := filepath.Glob(filepath.Join(p.dir, "*")); succeeded != want || len(left) != 1 || left[0] != foreign {
			t.Errorf("%q, left are %v", out, left)
		}
	}
}
