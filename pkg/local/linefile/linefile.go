// Package linefile appends lines to files that other programs read.
package linefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// chunk is how much of the end of a file is read at once to find its last complete line.
const chunk = 4096

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
