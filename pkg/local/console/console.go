package console

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Options say how a Console writes.
type Options struct {
	Terminal bool // aligned lines for people instead of JSON
	Color    bool // on a terminal only
	Now      func() time.Time
}

// Request is a request that has been answered.
type Request struct {
	Method   string
	Path     string // as the client sent it, without query
	Status   int
	Function string // that the request was for; empty: none
	Duration time.Duration
	ID       string
	Cause    string // of an answer that the gateway made itself for a fault; may have lines; empty: none
}

// Console writes lines. It is safe for concurrent use; each line is one Write.
type Console struct {
	options  Options
	redactor redactor
	json     slog.Handler // nil on a terminal

	mu      sync.Mutex
	out     io.Writer
	pending pending
	calls   map[string]struct{} // ids of calls beside the API that have begun and not ended
}

// Call is a call of a function beside the API that has ended.
type Call struct {
	Function string
	Trigger  string // what called it
	ID       string
	Duration time.Duration
	Cause    string // of its failure; may have lines; empty: it succeeded
	Routine  bool   // a terminal shows it only where it failed or its function had something to say
}

// New makes a Console on out. A line that cannot be written is lost.
func New(out io.Writer, o Options) *Console {
	c := &Console{options: o, redactor: newRedactor(), out: out, calls: map[string]struct{}{}}
	if !o.Terminal {
		c.json = slog.NewJSONHandler(lineWriter{c}, nil)
	}
	return c
}

// Logger is the logger of a function: its warnings and errors are shown, beneath their request where it has one. JSON has its lines of
// refused requests too: they alone name the error's id.
func (c *Console) Logger(function string) *slog.Logger {
	attr := slog.String("function", function)
	if c.json != nil {
		return slog.New(refusals{atLeast{slog.LevelInfo, c.json.WithAttrs([]slog.Attr{attr})}})
	}
	return c.logger(slog.LevelWarn, attr)
}

// EventLogger is the logger of a function that is called beside the API: its records from Info on are shown, beneath their call. A terminal
// shows only warnings and errors of one whose calls are routine.
func (c *Console) EventLogger(function string, routine bool) *slog.Logger {
	attr := slog.String("function", function)
	if c.json != nil {
		return slog.New(calls{c, atLeast{slog.LevelInfo, c.json.WithAttrs([]slog.Attr{attr})}})
	}
	level := slog.LevelInfo
	if routine {
		level = slog.LevelWarn
	}
	return slog.New(calls{c, c.logger(level, attr).Handler()})
}

// Own is the logger of `make run` itself: what happens beside the requests.
func (c *Console) Own() *slog.Logger { return c.logger(slog.LevelInfo) }

func (c *Console) logger(level slog.Level, attrs ...slog.Attr) *slog.Logger {
	if c.json != nil {
		return slog.New(atLeast{level, c.json.WithAttrs(attrs)})
	}
	return slog.New(atLeast{level, (&textHandler{console: c}).WithAttrs(attrs)})
}

// Request writes the line of a request.
func (c *Console) Request(r *Request) {
	if c.json == nil {
		c.requestText(r)
		return
	}
	level := slog.LevelInfo
	if r.Cause != "" {
		level = slog.LevelError
	}
	record := slog.NewRecord(c.options.Now(), level, "request", 0)
	record.AddAttrs(
		slog.String("method", printable(r.Method, maxJSONPath)), slog.String("path", printable(r.Path, maxJSONPath)),
		slog.Int("status", r.Status), slog.String("function", r.Function), slog.Float64("milliseconds", milliseconds(r.Duration)),
		slog.String("requestId", r.ID),
	)
	if r.Cause != "" {
		record.AddAttrs(slog.String("cause", r.Cause))
	}
	_ = c.json.Handle(context.Background(), record) // a line that cannot be written is lost
}

// BeginCall says that a call beside the API has begun: what its function logs waits for the line of its end.
func (c *Console) BeginCall(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[id] = struct{}{}
}

// EndCall writes the line of a call beside the API.
func (c *Console) EndCall(call *Call) {
	c.mu.Lock()
	delete(c.calls, call.ID)
	c.mu.Unlock()
	if c.json == nil {
		c.callText(call)
		return
	}
	level, outcome := slog.LevelInfo, "succeeded"
	if call.Cause != "" {
		level, outcome = slog.LevelError, "failed"
	}
	record := slog.NewRecord(c.options.Now(), level, "call", 0)
	record.AddAttrs(
		slog.String("function", call.Function), slog.String("trigger", call.Trigger), slog.String("outcome", outcome),
		slog.Float64("milliseconds", milliseconds(call.Duration)), slog.String("requestId", call.ID),
	)
	if call.Cause != "" {
		record.AddAttrs(slog.String("cause", call.Cause))
	}
	_ = c.json.Handle(context.Background(), record) // a line that cannot be written is lost
}

// hasBegun says whether a call has begun and not ended.
func (c *Console) hasBegun(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, begun := c.calls[id]
	return begun
}

// AccessLog writes the gateway's access-log line of a request, in the template's format. A terminal does not show it.
func (c *Console) AccessLog(line []byte, at time.Time) {
	if c.json == nil {
		return
	}
	record := slog.NewRecord(at, slog.LevelInfo, "access log", 0)
	record.AddAttrs(slog.Any("line", accessLog(line)))
	_ = c.json.Handle(context.Background(), record)
}

// Close writes what is held back for requests that have not been answered.
func (c *Console) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.pending.takeAll() {
		c.write(text)
	}
}

// accessLog is the line as JSON where the template's format makes it so, else as text.
func accessLog(line []byte) any {
	if json.Valid(line) {
		return json.RawMessage(line)
	}
	return printable(string(line), maxJSONPath)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// write is the one way out; c.mu is held.
func (c *Console) write(line []byte) { _, _ = c.out.Write(c.redactor.redact(line)) }

// lineWriter takes the JSON handler's lines.
type lineWriter struct{ c *Console }

// Write implements io.Writer.
func (w lineWriter) Write(line []byte) (int, error) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.c.write(line)
	return len(line), nil
}

// atLeast drops records below a level.
type atLeast struct {
	level slog.Level
	slog.Handler
}

// Enabled implements slog.Handler.
func (h atLeast) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// WithAttrs implements slog.Handler.
func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.level, h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.level, h.Handler.WithGroup(name)}
}

// refusals drops records below Warn that name no error.
type refusals struct{ slog.Handler }

// Handle implements slog.Handler.
func (h refusals) Handle(ctx context.Context, r slog.Record) error {
	named := r.Level >= slog.LevelWarn
	r.Attrs(func(a slog.Attr) bool {
		named = named || a.Key == "errorId"
		return !named
	})
	if !named {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h refusals) WithAttrs(attrs []slog.Attr) slog.Handler {
	return refusals{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h refusals) WithGroup(name string) slog.Handler { return refusals{h.Handler.WithGroup(name)} }
