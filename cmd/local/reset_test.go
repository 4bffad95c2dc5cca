package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/local/localtest"
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

func names(tb testing.TB, dir string) (all []string) {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestReset(t *testing.T) {
	t.Parallel()
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	if out, succeeded := reset(t, p.dir); succeeded || !strings.Contains(out, "process "+strconv.Itoa(p.Process.Pid)+" uses ") {
		t.Errorf("in use: %q", out)
	}
	p.list(t)
	p.stop(t)
	// Process ids are reused: the one in the file is now that of another process.
	write(t, filepath.Join(p.dir, "lock"), strconv.Itoa(os.Getpid()))
	write(t, filepath.Join(p.dir, "thesis.txt"), "not ours")
	if out, succeeded := reset(t, p.dir); !succeeded || strings.Join(names(t, p.dir), " ") != "thesis.txt" {
		t.Errorf("with another file: %q, left are %v", out, names(t, p.dir))
	}
	if out, succeeded := reset(t, p.dir); succeeded || strings.Join(names(t, p.dir), " ") != "thesis.txt" {
		t.Errorf("a folder that is not ours: %q, left are %v", out, names(t, p.dir))
	}
	if out, succeeded := reset(t, p.dir+"/nowhere"); !succeeded || !strings.Contains(out, "does not exist") {
		t.Errorf("no folder: %q", out)
	}
	again := serve(t, filepath.Join(t.TempDir(), "data"))
	again.stop(t)
	if out, succeeded := reset(t, again.dir); !succeeded || out != "reset: deleted "+again.dir+"\n" {
		t.Errorf("only ours: %q, left are %v", out, names(t, again.dir))
	}
}
