package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// isOurs says whether the process is an engine on our database. A process that has ended and waits to be reaped has no command line, and
// a system without /proc has none either: there every engine ends with its parent, or by hand.
func (e *Engine) isOurs(pid int) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return false
	}
	args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	i := slices.Index(args, "--db-path")
	return filepath.Base(args[0]) == "dynoxide" && i > 0 && i+1 < len(args) && args[i+1] == e.database
}
