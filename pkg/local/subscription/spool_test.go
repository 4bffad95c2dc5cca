package subscription_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAFileThatIsShorter: after a power cut a file may be shorter than what is noted of it. What comes later is delivered.
func TestAFileThatIsShorter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := newSetup(t, dir)
		s.do = func(n int, _ func(int) error) error {
			if n == 2 {
				return errEnd
			}
			return nil
		}
		for _, line := range []string{"done", "open"} {
			s.Append([]byte(line), time.Now())
			s.run(t, 2*time.Second)
		}
		names, err := filepath.Glob(filepath.Join(dir, "*.log"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		if err := os.Truncate(names[0], 3); err != nil {
			t.Fatal(err)
		}
		s.restart(t)
		s.Append([]byte("next"), time.Now())
		s.run(t, 5*time.Second)
		if n := len(s.payloads); n != 3 || decode(t, s.payloads[2]).LogEvents[0].Message != "next" {
			t.Errorf("batches %v", s.batches)
		}
	})
}

// TestLinesThatCannotBeWritten: one line says that requests are missing, and one how many they were.
func TestLinesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	s := newSetup(t, dir)
	var log bytes.Buffer
	s.config.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s.restart(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	line := bytes.Repeat([]byte("x"), 1010)
	for range 17000 { // the first file is full after 16 MB, 16,369 lines, and the next one cannot be made
		s.Append(line, time.Now())
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Append(line, time.Now())
	s.Append(line, time.Now())
	if out := log.String(); strings.Count(out, "\n") != 2 || !strings.Contains(out, "requests are missing") || !strings.Contains(out, "missing=631\n") {
		t.Errorf("the log says: %s", out)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
