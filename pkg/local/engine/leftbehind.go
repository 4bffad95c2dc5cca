package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func (e *Engine) pidPath() string { return filepath.Join(e.options.Dir, "engine.pid") }

func (e *Engine) writePID(pid int) error {
	if e.options.Dir == "" {
		return nil
	}
	if err := os.WriteFile(e.pidPath(), []byte(strconv.Itoa(pid)+"\n"), 0o600); err != nil {
		return fmt.Errorf("note the engine's process id: %w", err)
	}
	return nil
}

// forgetPID removes the note of a child that has ended. A note that stays is harmless: endLeftBehind checks it.
func (e *Engine) forgetPID() {
	if e.options.Dir != "" {
		_ = os.Remove(e.pidPath())
	}
}

// endLeftBehind ends the engine whose process id an earlier process noted in the folder, if it still runs and still is an engine on this
// very database: process ids are used again.
func (e *Engine) endLeftBehind(ctx context.Context) error {
	note, err := os.ReadFile(e.pidPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the noted process id of an earlier engine: %w", err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(note))) // 0 for what is no number
	if pid <= 1 {
		e.forgetPID()
		return nil
	}
	process, gone := os.FindProcess(pid) // on Linux a handle of this process, not of its number: no race with the check below
	if ours := gone == nil && e.isOurs(pid); !ours {
		e.forgetPID()
		return nil
	}
	e.options.Logger.InfoContext(ctx, "an engine left behind by an earlier process is ended", "pid", pid)
	for _, s := range []struct {
		signal  os.Signal
		timeout time.Duration
	}{{syscall.SIGTERM, termTimeout}, {syscall.SIGKILL, termTimeout}} {
		_ = process.Signal(s.signal) // it may end by itself in between
		if e.awaitEnd(ctx, pid, s.timeout) {
			e.forgetPID()
			return nil
		}
	}
	return fmt.Errorf("an engine left behind by an earlier process does not end: end process %d yourself", pid)
}

// awaitEnd waits until the process is gone. It is not our child, so nobody tells us.
func (e *Engine) awaitEnd(ctx context.Context, pid int, timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for e.isOurs(pid) {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// isOurs says whether the process is an engine on our data.
func (e *Engine) isOurs(pid int) bool {
	program := &e.options.Program
	line := commandLine(pid)
	return strings.Contains(line, program.signature) && strings.Contains(line, " "+program.dataFlag+" "+program.data(e.options.Dir)+" ")
}

// commandLine is the process's, with a space after each argument. Empty: there is none, or it has ended and waits to be reaped.
func commandLine(pid int) string {
	if line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")); err == nil {
		return strings.ReplaceAll(string(line), "\x00", " ")
	}
	if _, err := os.Stat("/proc/self"); err == nil {
		return ""
	}
	line, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output() //nolint:gosec,noctx // a number; it takes milliseconds
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(line)) + " "
}
