package trigger

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/samtemplate"
)

// batchInterval is how long lines wait for others.
const batchInterval = time.Second

// logStream is the name of the one log stream.
const logStream = "5e2d1a7b9c4f4e0d8a6b3c1f0e9d8c7b"

// accessLog delivers the lines of the access log to a function. append is safe for concurrent use.
type accessLog struct {
	*Triggers
	function *samtemplate.Function
	folder   string

	mu sync.Mutex
	// The batch that lines are appended to. Each line of the file is the JSON object of one log event. nil: the file is
	// created with the next line.
	batch *os.File
}

// append writes a line.
func (l *accessLog) append(line []byte, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.write(line, at); err != nil {
		l.Logger.Error("the access log cannot be written: a request is not counted", slog.Any("cause", err))
	}
}

// write appends a line to the current batch. It calls Write once, so a killed process has written either the whole line
// or not yet sent the response.
func (l *accessLog) write(line []byte, at time.Time) (err error) {
	if l.batch == nil {
		l.batch, err = os.OpenFile(filepath.Join(l.folder, l.NewID()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
	}
	event, err := json.Marshal(events.CloudwatchLogsLogEvent{
		ID: l.NewID(), Timestamp: at.UnixMilli(), Message: string(line),
	})
	if err == nil {
		_, err = l.batch.Write(append(event, '\n'))
	}
	if err != nil {
		l.cut() // the next line must not continue an incomplete one
	}
	return err
}

// cut completes the current batch, if there is one.
func (l *accessLog) cut() {
	_ = l.batch.Close()
	l.batch = nil
}

// run delivers a batch every second until the context ends.
func (l *accessLog) run(ctx context.Context) {
	ticker := time.NewTicker(batchInterval)
	defer ticker.Stop()
	for {
		for _, path := range l.batches() {
			if !l.deliver(ctx, path) {
				break
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// batches completes the current batch and returns the paths of all that are not done, oldest first, with those of earlier
// processes.
func (l *accessLog) batches() (paths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut()
	files, err := os.ReadDir(l.folder) // sorted by name
	if err != nil {
		l.Logger.Error("the access log cannot be read: requests are not counted", slog.Any("cause", err))
	}
	for _, file := range files {
		paths = append(paths, filepath.Join(l.folder, file.Name()))
	}
	return paths
}

// deliver invokes the function with a batch and deletes its file. It returns false if the batch is not done.
func (l *accessLog) deliver(ctx context.Context, path string) bool {
	content, err := os.ReadFile(path)
	if err != nil {
		l.Logger.Error("a batch of the access log cannot be read: its requests are not counted", slog.Any("cause", err))
	}
	if lines := logEvents(content); len(lines) > 0 {
		event, err := l.event(lines)
		if err == nil {
			err = l.async(ctx, l.function, fmt.Sprintf("log %s, %s", l.Template.API.AccessLogGroup, count(len(lines), "line")),
				event)
		}
		if err != nil {
			return false
		}
	}
	if err := os.Remove(path); err != nil {
		l.Logger.Warn("a batch of the access log cannot be deleted: it is delivered again", slog.Any("cause", err))
	}
	return true
}

// logEvents returns the log events of a batch. It ignores a line that is not complete because the process was killed or
// the disk was full.
func logEvents(content []byte) []events.CloudwatchLogsLogEvent {
	var all []events.CloudwatchLogsLogEvent
	for line := range bytes.Lines(content) {
		var event events.CloudwatchLogsLogEvent
		if json.Unmarshal(line, &event) == nil {
			all = append(all, event)
		}
	}
	return all
}

// event returns the event of a batch.
func (l *accessLog) event(lines []events.CloudwatchLogsLogEvent) (*events.CloudwatchLogsEvent, error) {
	var data strings.Builder
	encoded := base64.NewEncoder(base64.StdEncoding, &data)
	compressed := gzip.NewWriter(encoded)
	err := json.NewEncoder(compressed).Encode(events.CloudwatchLogsData{
		MessageType: "DATA_MESSAGE", Owner: l.AccountID, LogGroup: l.Template.API.AccessLogGroup, LogStream: logStream,
		SubscriptionFilters: []string{l.function.LogicalID}, LogEvents: lines,
	})
	err = errors.Join(err, compressed.Close(), encoded.Close())
	return &events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{Data: data.String()}}, err
}
