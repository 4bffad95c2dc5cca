package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"toggleadmin/pkg/local/localtest"
)

// reset runs what `make reset` runs and gives what it says.
func reset(tb testing.TB, dir string) (said string, succeeded bool) {
	tb.Helper()
	script := filepath.Join(filepath.Dir(localtest.Template(tb)), "scripts", "reset.sh")
	out, err := exec.CommandContext(tb.Context(), script, dir).CombinedOutput()
	return string(out), err == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestResetSparesAFolderInUse(t *testing.T) {
	t.Parallel()
	p := serve(t, t.TempDir())
	said, succeeded := reset(t, p.dir)
	if want := "process " + strconv.Itoa(p.Process.Pid) + " uses "; succeeded || !strings.Contains(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
	if status, answer, err := p.send(t.Context(), "GET", "/api/admin/context", p.APIToken, ""); status != 200 {
		t.Errorf("the service: %d %s %v", status, answer, err)
	}
}

func TestResetDeletesWhatARunWroteAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		signal  syscall.Signal
		foreign string // a file that is no run's
	}{
		{"ended", syscall.SIGTERM, ""},
		{"killed", syscall.SIGKILL, ""},
		{"a folder that others use, too", syscall.SIGTERM, "thesis.txt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			p := serve(t, dir)
			if err := p.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			if err := <-p.ended; (err != nil) != (tt.signal == syscall.SIGKILL) {
				t.Fatalf("it ended with %v", err)
			}
			// Process ids are used again: the noted one is now that of a process that runs.
			write(t, filepath.Join(dir, "lock"), strconv.Itoa(os.Getpid())+"\n")
			if tt.foreign != "" {
				write(t, filepath.Join(dir, tt.foreign), "years of work")
			}
			said, succeeded := reset(t, dir)
			if !succeeded || !strings.HasPrefix(said, "reset: deleted ") {
				t.Fatalf("it says %q", said)
			}
			if tt.foreign == "" {
				if exists(dir) {
					t.Errorf("the folder is there, and it says %q", said)
				}
				return
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) != 1 || entries[0].Name() != tt.foreign {
				t.Errorf("left are %v", entries)
			}
		})
	}
}

func TestResetOfAFolderThatIsNoRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "notes.txt"), "")
	if said, succeeded := reset(t, dir); succeeded || !strings.Contains(said, "holds no data of make run") || !exists(file) {
		t.Errorf("it says %q, the file is there: %t", said, exists(file))
	}
	if said, succeeded := reset(t, filepath.Join(dir, "nowhere")); !succeeded || !strings.Contains(said, "there is no ") {
		t.Errorf("it says %q", said)
	}
}
