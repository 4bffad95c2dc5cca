// Package terminal writes what the local service reports: requests, deliveries of events, and what functions log.
//
// On a terminal, each request is one short line. The log records of functions are lines with the id of their request,
// without the attributes that are only for metrics. Elsewhere each record is a line of JSON. Secrets of tokens are
// replaced in both.
package terminal

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"toggleadmin/pkg/platform/logging"
)

// Options configure an Output.
type Options struct {
	Terminal bool // lines for people instead of JSON
	Color    bool // on a terminal only
	Now      func() time.Time
}

// Output writes lines. It is safe for concurrent use. Lines that cannot be written are lost.
type Output struct {
	options Options

	mu  sync.Mutex
	out io.Writer
}

// Entry is a request that has a response, or an event that was delivered to a function.
type Entry struct {
	Method   string // of an event: "event"
	Path     string // as sent, percent-encoded; of an event: its source, such as "stream of FeatureTypes, 3 records"
	Status   int    // of an event: 0
	Function string // its Name; empty: no route matched
	Duration time.Duration
	ID       string // of the request or the invocation
	Cause    error  // why the gateway or a delivery failed; may have several lines
	Quiet    bool   // not shown on a terminal, unless it failed
}

// New returns an Output that writes to out.
func New(out io.Writer, o Options) *Output {
	return &Output{options: o, out: out}
}

// Logger returns a logger for records of at least the level.
func (o *Output) Logger(level slog.Level) *slog.Logger {
	if o.options.Terminal {
		return slog.New(&terminalHandler{output: o, level: level})
	}
	return slog.New(slog.NewJSONHandler(o, &slog.HandlerOptions{Level: level}))
}

// EventLogger returns the logger of a function that receives events. Its records have the id of the invocation.
func (o *Output) EventLogger(function string, level slog.Level) *slog.Logger {
	return slog.New(invocationHandler{o.FunctionLogger(function, level).Handler()})
}

// FunctionLogger returns the logger of a function. A terminal shows its records of at least the level, JSON has all.
func (o *Output) FunctionLogger(function string, level slog.Level) *slog.Logger {
	if !o.options.Terminal {
		level = slog.LevelInfo
	}
	return o.Logger(level).With(slog.String("function", function))
}

// Log writes an entry. JSON has all requests, and the events that failed.
func (o *Output) Log(e *Entry) {
	if o.options.Terminal {
		o.logLine(e)
		return
	}
	if e.Status == 0 && e.Cause == nil {
		return
	}
	attributes := []slog.Attr{
		slog.String("method", e.Method), slog.String("path", printable(e.Path, maxValue)), slog.Int("status", e.Status),
		slog.String("function", e.Function), slog.Float64("milliseconds", logging.Milliseconds(e.Duration)),
		slog.String("requestId", e.ID),
	}
	if e.Cause == nil {
		o.Logger(slog.LevelInfo).LogAttrs(context.Background(), slog.LevelInfo, "request", attributes...)
		return
	}
	attributes = append(attributes, slog.Any("cause", e.Cause))
	o.Logger(slog.LevelError).LogAttrs(context.Background(), slog.LevelError, "request failed", attributes...)
}

// Write writes lines, without secrets.
func (o *Output) Write(lines []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = o.out.Write(redact(lines))
	return len(lines), nil
}

// secrets matches the secret of a token, percent-encoded or not, after the part that is not secret, and JSON web
// tokens.
var secrets = regexp.MustCompile(`(v2(?:_|%5[Ff])[A-Za-z0-9_-]{22}(?:_|%5[Ff]))[A-Za-z0-9_%-]+|eyJ[A-Za-z0-9_-]*\.[A-Za-z0-9_.-]+`)

func redact(line []byte) []byte {
	if !bytes.Contains(line, []byte("v2")) && !bytes.Contains(line, []byte("eyJ")) {
		return line // the usual case, without the cost of the expression
	}
	return secrets.ReplaceAll(line, []byte("${1}[redacted]"))
}
