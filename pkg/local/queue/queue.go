// Package queue is what the template's SQS queues are on one machine: files with one message a line, for people to read. Nobody receives
// from them; they hold what was given up.
package queue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Queue is one queue. It is safe for concurrent use.
type Queue struct {
	mu   sync.Mutex
	path string
	kept [][]byte // without a file
}

// Open gives the queue with that name; its file <name>.jsonl in dir is made with the first message. Without dir messages stay in memory.
func Open(dir, name string) *Queue {
	if dir == "" {
		return &Queue{}
	}
	return &Queue{path: filepath.Join(dir, name+".jsonl")}
}

// Send appends a message, which is one line of JSON.
func (q *Queue) Send(message []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.path == "" {
		q.kept = append(q.kept, message)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(q.path), 0o700); err != nil {
		return fmt.Errorf("make the queues' folder: %w", err)
	}
	f, err := os.OpenFile(q.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the queue: %w", err)
	}
	_, err = f.Write(append(slices.Clip(message), '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write to the queue: %w", err)
	}
	return nil
}
