package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/local/datafile"
)

const (
	localJSON      = "local.json"
	webhookKeySize = 32 // bytes
)

// lockDataDir creates the folder if it is missing and locks it for this process. Closing the file, or the end of the
// process, unlocks it.
func lockDataDir(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("DATA_DIR %s cannot be created, choose another folder: %w", dir, err)
	}
	if err := checkOwner(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR %s cannot be written, choose another folder or correct its permissions: %w",
			dir, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid, _ := os.ReadFile(path)
		err = fmt.Errorf("another instance, process %s, uses it: stop that one, or choose another folder", pid)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("DATA_DIR %s is locked: %w", dir, err), f.Close())
	}
	_ = os.WriteFile(path, fmt.Append(nil, os.Getpid()), 0o600) // for the error above; the lock does not depend on it
	return f, nil
}

// checkOwner returns an error if another user can write to the folder. They could replace the files of the service, and
// read its credentials.
func checkOwner(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("DATA_DIR %s cannot be read, choose another folder or correct its permissions: %w", dir, err)
	}
	defer f.Close()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &stat); err != nil {
		return fmt.Errorf("DATA_DIR %s cannot be checked, choose another folder: %w", dir, err)
	}
	switch {
	case stat.Mode&syscall.S_IFMT != syscall.S_IFDIR:
		return fmt.Errorf("DATA_DIR %s is not a folder: choose another one", dir)
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("DATA_DIR %s belongs to another user (ID %d): choose a folder of your own", dir, stat.Uid)
	case stat.Mode&0o022 != 0:
		return fmt.Errorf("DATA_DIR %s can be written by other users (mode %04o): choose another folder, or run chmod "+
			"go-w %[1]s", dir, stat.Mode&0o7777)
	}
	return nil
}

// readLocalJSON returns the file of an earlier run. If the file is missing or damaged it returns nothing, and seeding
// replaces the credentials.
func readLocalJSON(dir string) Running {
	var kept Running
	content, err := os.ReadFile(filepath.Join(dir, localJSON))
	if dir == "" || err != nil || json.Unmarshal(content, &kept) != nil {
		return Running{}
	}
	return kept
}

// webhookSecret returns the secret of an earlier run, or a new one.
func webhookSecret(kept string, random io.Reader) (string, error) {
	if _, err := webhook.ParseSecrets(kept); err == nil {
		return kept, nil
	}
	key := make([]byte, webhookKeySize)
	if _, err := io.ReadFull(random, key); err != nil {
		return "", fmt.Errorf("make the secret of the webhook: %w", err)
	}
	return webhook.NewSecret(key), nil
}

// writeLocalJSON writes the file.
func writeLocalJSON(dir string, r *Running) error {
	if dir == "" {
		return nil
	}
	path := filepath.Join(dir, localJSON)
	content, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = datafile.Replace(path, append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
