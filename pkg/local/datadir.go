package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockName is the file whose lock says that a process uses the folder. The system releases it with the process, however that ends.
const lockName = "lock"

// lockDataDir makes the folder where it is missing and takes it for this process alone; release gives it back.
func lockDataDir(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("DATA_DIR %s cannot be made, choose another one: %w", dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR %s cannot be written, choose another one or mend its permissions: %w", dir, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		defer f.Close()
		return nil, fmt.Errorf("DATA_DIR %s is in use%s: stop that one, or choose another DATA_DIR", dir, holder(f))
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock DATA_DIR %s: %w", dir, err), f.Close())
	}
	// Whom a second instance names. Without it the lock holds all the same.
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return func() { _ = f.Close() }, nil
}

// holder names the process that noted itself in the lock's file.
func holder(f *os.File) string {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" by another instance, process %d", pid)
}
