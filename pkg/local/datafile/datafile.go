// Package datafile writes files that a killed process or a full disk does not leave incomplete.
package datafile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Temporary is the suffix of a file that is not complete.
const Temporary = ".new"

// chunk is how much of the end of a file is read at once to find its last complete line.
const chunk = 4096

// Replace replaces the content of a file as a whole, readable by its owner only. A killed process leaves either the old
// or the new content, and possibly a file with the suffix Temporary.
func Replace(path string, content []byte) error {
	if err := os.WriteFile(path+Temporary, content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+Temporary, path)
}

// Append appends a line, without its line feed, to a file. It creates the file if it is missing, readable by its owner
// only. An incomplete line at the end, which a full disk or a killed process has left, is removed before. Append is
// safe for concurrent use, by several processes too.
func Append(path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX) // Close unlocks it
	if err == nil {
		err = removeIncomplete(file)
	}
	if err == nil {
		_, err = file.Write(append(bytes.Clone(line), '\n'))
	}
	return errors.Join(err, file.Close())
}

// removeIncomplete truncates a file after its last line feed.
func removeIncomplete(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	end, buffer := info.Size(), make([]byte, chunk)
	for end > 0 {
		begin := max(end-chunk, 0)
		part := buffer[:end-begin]
		if _, err := file.ReadAt(part, begin); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the end of %s: %w", file.Name(), err)
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			end = begin + int64(i) + 1
			break
		}
		end = begin
	}
	if end == info.Size() {
		return nil
	}
	return file.Truncate(end)
}
