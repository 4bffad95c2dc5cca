package console

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

const (
	maxTextPath = 120  // characters of a path on a terminal
	maxJSONPath = 2048 // the same in JSON
	maxCause    = 2000 // characters of one line of an attribute
	maxLines    = 40   // lines of an attribute: a panic's stack has more

	methodWidth, pathWidth, functionWidth = 7, 52, 29
)

// colours of a terminal, by what they mean.
const (
	plain, faint, good, ours, theirs = "\x1b[0m", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[33m"
)

// requestText writes a request's line and, beneath it, the records that were held for it.
func (c *Console) requestText(r *Request) {
	var b bytes.Buffer
	function := r.Function
	if function == "" {
		function = "-"
	}
	color, end, dim := c.colors(r.Status)
	path := c.redactor.redact([]byte(printable(r.Path, maxTextPath))) // before its column is filled up
	fmt.Fprintf(&b, "%s %-*s %-*s %s%d%s %-*s %s%8.1f ms  %s%s\n",
		c.options.Now().Format("15:04:05"), methodWidth, printable(r.Method, methodWidth*2), pathWidth, path,
		color, r.Status, end, functionWidth, function, dim, milliseconds(r.Duration), r.ID, end)
	if r.Cause != "" {
		writeLines(&b, "cause", r.Cause)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.pending.take(r.ID) {
		b.Write(text)
	}
	c.write(b.Bytes())
}

func (c *Console) colors(status int) (color, end, dim string) {
	switch {
	case !c.options.Color:
		return "", "", ""
	case status >= 500:
		return ours, plain, faint
	case status >= 400:
		return theirs, plain, faint
	}
	return good, plain, faint
}

// textHandler formats records for a terminal.
type textHandler struct {
	console *Console
	attrs   []slog.Attr // with their groups in the keys
	group   string
}

var _ slog.Handler = (*textHandler)(nil)

// Enabled implements slog.Handler.
func (h *textHandler) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clone := *h
	clone.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		a.Key = h.group + a.Key
		clone.attrs = append(clone.attrs, a)
	}
	return &clone
}

// WithGroup implements slog.Handler.
func (h *textHandler) WithGroup(name string) slog.Handler {
	clone := *h
	clone.group = h.group + name + "."
	return &clone
}

// Handle implements slog.Handler. A record of a request waits for the request's line.
func (h *textHandler) Handle(_ context.Context, record slog.Record) error {
	attrs := slices.Clone(h.attrs)
	record.Attrs(func(a slog.Attr) bool {
		a.Key = h.group + a.Key
		attrs = append(attrs, a)
		return true
	})
	id := requestID(attrs)
	text := h.text(record, attrs, id != "")
	h.console.mu.Lock()
	defer h.console.mu.Unlock()
	if id == "" {
		h.console.write(text)
		return nil
	}
	for _, evicted := range h.console.pending.hold(id, text) {
		h.console.write(evicted)
	}
	return nil
}

// text is the record: its message and short attributes on one line, long ones beneath.
func (h *textHandler) text(record slog.Record, attrs []slog.Attr, beneath bool) []byte {
	var b, long bytes.Buffer
	color, end := "", ""
	if h.console.options.Color && record.Level >= slog.LevelWarn {
		color, end = ours, plain
	}
	if beneath {
		b.WriteString("         ")
	} else {
		b.WriteString(record.Time.Format("15:04:05 "))
	}
	fmt.Fprintf(&b, "%s%s%s %s", color, record.Level, end, printable(record.Message, maxCause))
	for _, a := range attrs {
		if beneath && slices.Contains(onRequestLine(), a.Key) || a.Key == "_aws" { // metrics in CloudWatch's embedded format
			continue
		}
		value := a.Value.Resolve().String()
		if a.Key == "cause" || strings.Contains(value, "\n") {
			writeLines(&long, a.Key, value)
			continue
		}
		fmt.Fprintf(&b, "  %s=%s", a.Key, printable(value, maxCause))
	}
	b.WriteByte('\n')
	b.Write(long.Bytes())
	return b.Bytes()
}

// onRequestLine are the attributes that the request's own line has.
func onRequestLine() []string {
	return []string{"apiRequestId", "requestId", "method", "route", "status", "milliseconds"}
}

func writeLines(b *bytes.Buffer, key, value string) {
	lines := strings.Split(strings.TrimRight(value, "\n"), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "…")
	}
	for i, line := range lines {
		if i == 0 {
			line = key + ": " + line
		}
		fmt.Fprintf(b, "           %s\n", printable(strings.ReplaceAll(line, "\t", "  "), maxCause))
	}
}

// requestID finds the gateway's id of the request that a record belongs to.
func requestID(attrs []slog.Attr) string {
	for _, key := range []string{"apiRequestId", "requestId"} {
		for _, a := range attrs {
			if a.Key == key {
				return a.Value.String()
			}
		}
	}
	return ""
}
