package engine_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/test/process"
)

func TestALeftBehindEngineIsEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, exited := enginetest.LeaveBehind(t, dir)
	enginetest.StartIn(t, dir)
	select {
	case err := <-exited:
		t.Logf("the one left behind ended with %v", err) // by the signal, where it listens before it handles signals
	case <-time.After(enginetest.Patience()):
		t.Error("the one left behind has not ended")
	}
}

func TestANoteOfAnotherProcessIsNoReasonToEndIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, note string }{
		{"another engine's", strconv.Itoa(enginetest.StartIn(t, t.TempDir()).PID())},
		{"our own", strconv.Itoa(os.Getpid())},
		{"nobody's", "4194999"},
		{"not a number", "all of them"},
		{"everybody", "-1"},
		{"empty", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "engine.pid"), []byte(tt.note), 0o600); err != nil {
				t.Fatal(err)
			}
			enginetest.StartIn(t, dir)
			if pid, err := strconv.Atoi(tt.note); err == nil && pid > 1 && pid < 4194999 && !process.Runs(pid) {
				t.Error("it was ended")
			}
		})
	}
}
