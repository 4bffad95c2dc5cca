package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lock opens the file engine.pid and locks it. The child inherits the open file, so the lock is released when the child
// ends, however it ends. If an engine of an earlier process has the lock, lock ends that engine first.
func (e *Engine) lock(ctx context.Context) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(e.options.Dir, "engine.pid"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the engine's lock: %w", err)
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return f, nil
	}
	content, _ := io.ReadAll(f)
	pid, _ := strconv.Atoi(string(content))
	if pid > 1 && !e.runsIn(pid) {
		return nil, errors.Join(fmt.Errorf("process %d, which is not the engine, has locked %s: end it, or choose another "+
			"folder", pid, f.Name()), f.Close())
	}
	if pid > 1 {
		e.options.Logger.InfoContext(ctx, "ending an engine that an earlier process left behind", "pid", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may end by itself in between
		if awaitLock(ctx, f) {
			return f, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("an engine that an earlier process left behind uses %s: end process %d",
		e.options.Dir, pid), f.Close())
}

// runsIn reports whether the engine's program runs in a process. Where the system has no /proc, it assumes so: the
// process has locked a file that only its owner can write.
func (e *Engine) runsIn(pid int) bool {
	running, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	program, err := filepath.EvalSymlinks(e.options.Program)
	return err == nil && strings.TrimSuffix(running, " (deleted)") == program // deleted: it was installed again
}

// awaitLock tries to lock a file until stopTimeout has passed.
func awaitLock(ctx context.Context, f *os.File) bool {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for range stopTimeout / pollInterval {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return true
		}
	}
	return false
}
