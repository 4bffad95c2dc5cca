package contract_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"
)

// logLines is the service's standard error: lines of JSON.
type logLines struct {
	mu    sync.Mutex
	lines []logLine
	more  chan struct{} // closed at the next line
}

// logLine is what the tests read of a line.
type logLine struct {
	Level        string
	Msg          string
	RequestID    string
	APIRequestID string `json:"apiRequestId"`
	ErrorID      string
	Cause        string
	Line         accessLog
	raw          string
}

// accessLog is the gateway's own line.
type accessLog struct {
	RequestID string
	Status    string
}

func newLog() *logLines { return &logLines{more: make(chan struct{})} }

// Write implements io.Writer: each line is one Write.
func (l *logLines) Write(p []byte) (int, error) {
	line := logLine{raw: string(bytes.TrimSpace(p))}
	if err := json.Unmarshal(p, &line); err != nil {
		line.Msg = "no JSON: " + err.Error()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	close(l.more)
	l.more = make(chan struct{})
	return len(p), nil
}

// wait gives the first line that fits, which may come after the answer.
func (l *logLines) wait(t *testing.T, what string, fits func(logLine) bool) logLine {
	t.Helper()
	patience := time.After(5 * time.Second)
	for next := 0; ; {
		l.mu.Lock()
		lines, more := l.lines[next:], l.more
		next = len(l.lines)
		l.mu.Unlock()
		for _, line := range lines {
			if fits(line) {
				return line
			}
		}
		select {
		case <-more:
		case <-patience:
			t.Fatalf("the log has no line of %s", what)
		}
	}
}

// all gives what was written up to now.
func (l *logLines) all() []logLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.lines)
}
