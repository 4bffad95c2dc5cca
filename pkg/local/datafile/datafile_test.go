package datafile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"toggleadmin/pkg/local/datafile"
	"toggleadmin/test/helper/assert"
)

// What a full disk or a killed process has left does not become part of the next line.
func TestIncompleteLine(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{"": "c\n", "a": "a\nc\n", "a\n": "a\nc\n", "a\nb": "a\nb\nc\n"} {
		path := filepath.Join(t.TempDir(), "file")
		assert.OK(t, os.WriteFile(path, []byte(content), 0o600))
		err := datafile.Append(path, []byte("c"))
		if got, _ := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%q: %v, %q, want %q", content, err, got, want)
		}
	}
}

// What somebody else has put in the place of the temporary file stays as it is, and does not become the file.
func TestReplaceDoesNotUseAnExistingFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	other := filepath.Join(t.TempDir(), "other")
	for name, create := range map[string]func() error{
		"a file that all can read": func() error { return os.WriteFile(path+datafile.Temporary, nil, 0o666) },
		"a link":                   func() error { return os.Symlink(other, path+datafile.Temporary) },
		"a second name":            func() error { return os.Link(other, path+datafile.Temporary) },
	} {
		assert.OK(t, os.WriteFile(other, []byte("other"), 0o600))
		assert.OK(t, create())
		assert.OK(t, datafile.Replace(path, []byte("new")))
		content, err := os.ReadFile(path)
		info, statErr := os.Lstat(path)
		if err != nil || statErr != nil || string(content) != "new" || info.Mode() != 0o600 {
			t.Errorf("%s: %q, %v, %v, %v", name, content, info, err, statErr)
		}
		if content, err := os.ReadFile(other); err != nil || string(content) != "other" {
			t.Errorf("%s: the other file is %q, %v", name, content, err)
		}
	}
}

func TestConcurrentAppend(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	var appending sync.WaitGroup
	for i := range 50 {
		appending.Go(func() {
			if err := datafile.Append(path, fmt.Appendf(nil, "line %d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	appending.Wait()
	content, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if lines := strings.Count(string(content), "line"); err != nil || statErr != nil || lines != 50 ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("%d lines, %v, %v, %v", lines, info, err, statErr)
	}
	if err := datafile.Append(filepath.Join(path, "file"), nil); err == nil {
		t.Error("a file below a file is appended to")
	}
}
