// Package datafile writes files that a killed process or a full disk does not leave incomplete.
package datafile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Temporary is the suffix of a file that is not complete.
const Temporary = ".new"

// Replace replaces the content of a file as a whole, readable by its owner only. A killed process leaves either the old
// or the new content, and possibly a file with the suffix Temporary.
func Replace(path string, content []byte) error {
	temporary := path + Temporary
	// A file that somebody else created could stay readable for them.
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// Append appends a line, without its line feed, to a file. It creates the file if it is missing, readable by its owner
// only. An incomplete line at the end, which a full disk or a killed process has left, becomes a line of its own. Append
// is safe for concurrent use, by several processes too.
func Append(path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX) // Close unlocks it
	text := append(bytes.Clone(line), '\n')
	if size, _ := file.Seek(0, io.SeekEnd); err == nil && size > 0 {
		last := make([]byte, 1)
		if _, err = file.ReadAt(last, size-1); last[0] != '\n' {
			text = append([]byte("\n"), text...)
		}
	}
	if err == nil {
		_, err = file.Write(text)
	}
	return errors.Join(err, file.Close())
}
