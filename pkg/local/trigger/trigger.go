package trigger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/samtemplate"
)

// Config is the configuration of Triggers.
type Config struct {
	Template  *samtemplate.Template
	Functions map[string]*invoke.Function // by logical id
	Bus       *bus.Bus                    // its queues, which also receive what functions have failed to process
	Ended     func(*terminal.Entry)       // called concurrently after each invocation that was not aborted

	AWS               aws.Config // reaches the tables and their streams
	Region, AccountID string     // as events name them

	Now    func() time.Time
	NewID  func() string // returns a UUID; later ones sort after earlier ones
	Logger *slog.Logger
}

// errAborted is the error of an invocation that the end of the program ended. The function did not cause it.
var errAborted = errors.New("the program is ending")

// Triggers invokes functions for events. AccessLog is safe for concurrent use.
type Triggers struct {
	Config
	folder     string // checkpoints of streams, access logs
	accessLogs []*accessLog
	running    context.Context //nolint:containedctx // the lifetime of all invocations
	abort      context.CancelCauseFunc
}

// New prepares the delivery of the template's events and returns an error for settings that the local service does not
// support.
func New(c Config) (*Triggers, error) {
	t := &Triggers{Config: c, folder: filepath.Join(c.Bus.DataDir, "events")}
	t.running, t.abort = context.WithCancelCause(context.Background())
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder for events: %w", err)
	}
	for i := range t.Template.Functions {
		f := &t.Template.Functions[i]
		for _, s := range f.Queues {
			if t.Bus.Queue(s.Queue) == nil {
				return nil, fmt.Errorf("function %s, queue %s: the local service supports only queues that are targets of a rule",
					f.LogicalID, s.Queue)
			}
		}
		for _, s := range f.LogSubscriptions {
			if s.LogGroup != t.Template.API.AccessLogGroup {
				return nil, fmt.Errorf("function %s subscribes to log group %s: the local service supports only the log group of the "+
					"access log, %s",
					f.LogicalID, s.LogGroup, t.Template.API.AccessLogGroup)
			}
			l := &accessLog{Triggers: t, function: f, folder: filepath.Join(t.folder, "access-log-"+f.LogicalID)}
			if err := os.MkdirAll(l.folder, 0o700); err != nil {
				return nil, fmt.Errorf("open the access log: %w", err)
			}
			t.accessLogs = append(t.accessLogs, l)
		}
	}
	return t, nil
}

// AccessLog stores a line of the access log. It returns after the line is written to its file.
func (t *Triggers) AccessLog(line []byte, at time.Time) {
	for _, l := range t.accessLogs {
		l.append(line, at)
	}
}

// Start delivers events until ctx ends or stop is called. stop waits for invocations in progress, but not longer than
// drain after the end of ctx: what is not done by then is delivered again after the next start. Call it after the last
// line of the access log.
func (t *Triggers) Start(ctx context.Context, drain time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { time.AfterFunc(drain, func() { t.abort(errAborted) }) })
	var running sync.WaitGroup
	for _, l := range t.accessLogs {
		running.Go(func() { l.run(ctx) })
	}
	for i := range t.Template.Functions {
		f := &t.Template.Functions[i]
		for _, s := range f.Streams {
			running.Go(func() { newStream(t, f, s).run(ctx) })
		}
		for _, s := range f.Queues {
			running.Go(func() { t.runQueue(ctx, f, s) })
		}
		for _, s := range f.Schedules {
			running.Go(func() { t.runSchedule(ctx, f, s) })
		}
	}
	return func() {
		cancel()
		running.Wait()
		for _, l := range t.accessLogs {
			l.batches() // closes the file of the last one
		}
	}
}

// invoke invokes a function and returns its output and the id of the invocation. Only the function's Timeout and the end
// of the program end the invocation.
func (t *Triggers) invoke(f *samtemplate.Function, source string, payload []byte) (
	output []byte, id string, err error,
) {
	id = t.NewID()
	if t.running.Err() != nil {
		return nil, id, errAborted
	}
	begin := t.Now()
	output, err = t.Functions[f.LogicalID].Invoke(t.running, id, payload)
	if !errors.Is(err, errAborted) {
		t.Ended(&terminal.Entry{
			Method: "event", Path: source, Function: f.Name, ID: id, Duration: t.Now().Sub(begin), Cause: err,
			Quiet: len(f.LogSubscriptions)+len(f.Schedules) > 0,
		})
	}
	return output, id, err
}
