package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"toggleadmin/pkg/platform/logging"
)

const (
	timeOfDay = "15:04:05"

	maxMethod = 14   // bytes of a method on a terminal
	maxPath   = 120  // bytes of a path
	maxValue  = 2000 // bytes of one line of a value
	maxLines  = 40   // lines of a value; the stack of a panic has more

	plain, faint, red, green, yellow = "\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"
)

// logLine writes the line of an entry, and why it failed.
func (o *Output) logLine(e *Entry) {
	if e.Quiet && e.Cause == nil {
		return
	}
	status, color := strconv.Itoa(e.Status), green
	switch {
	case e.Status == 0 && e.Cause == nil:
		status = "ok "
	case e.Status == 0:
		status, color = "ERR", red
	case e.Status >= 500:
		color = red
	case e.Status >= 400:
		color = yellow
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %-6s %s %s\n", o.options.Now().Format(timeOfDay), o.paint(color, status),
		printable(e.Method, maxMethod), printable(e.Path, maxPath),
		o.paint(faint, fmt.Sprintf("%.1f ms  %s", logging.Milliseconds(e.Duration), e.ID)))
	if e.Cause != nil {
		writeLines(&b, "cause", e.Cause.Error())
	}
	_, _ = o.Write(b.Bytes())
}

func (o *Output) paint(color, text string) string {
	if !o.options.Color {
		return text
	}
	return color + text + plain
}

// terminalHandler writes records for a terminal.
type terminalHandler struct {
	output *Output
	level  slog.Level
	attrs  []slog.Attr
}

// Enabled implements slog.Handler.
func (h *terminalHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// WithAttrs implements slog.Handler.
func (h *terminalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &terminalHandler{h.output, h.level, append(slices.Clip(h.attrs), attrs...)}
}

// WithGroup implements slog.Handler. Groups are not shown.
func (h *terminalHandler) WithGroup(string) slog.Handler { return h }

// Handle implements slog.Handler.
func (h *terminalHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := slices.Clip(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	var line, cause bytes.Buffer
	for _, a := range attrs {
		value := text(a.Value.Resolve())
		switch a.Key {
		case "method", "route", "status", "milliseconds": // on the request's line
		case "_aws", "functionName": // metrics in CloudWatch's embedded format
		// of a re-evaluation
		case "trigger", "cutoff", "superseded", "read", "pages", "writes", "throttled", "retried", "lagMilliseconds":
		case "cause":
			writeLines(&cause, a.Key, value)
		default:
			fmt.Fprintf(&line, "  %s=%s", a.Key, printable(value, maxValue))
		}
	}
	level := r.Level.String()
	if r.Level >= slog.LevelWarn {
		level = h.output.paint(red, level)
	}
	lines := fmt.Appendf(r.Time.AppendFormat(nil, timeOfDay), " %s %s%s\n%s", level, printable(r.Message, maxValue),
		&line, &cause)
	_, _ = h.output.Write(lines)
	return nil
}

// text returns a value as text, a structure as JSON.
func text(v slog.Value) string {
	switch v.Any().(type) {
	case error, fmt.Stringer:
		return v.String()
	}
	content, err := json.Marshal(v.Any())
	if v.Kind() != slog.KindAny || err != nil {
		return v.String()
	}
	return string(content)
}

// writeLines writes a value that may have several lines.
func writeLines(b *bytes.Buffer, key, value string) {
	lines := strings.Split(strings.TrimSpace(key+": "+value), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "…")
	}
	for _, line := range lines {
		fmt.Fprintf(b, "           %s\n", printable(strings.ReplaceAll(line, "\t", "  "), maxValue))
	}
}

// printable escapes control characters and invalid UTF-8, and cuts the text after a number of bytes.
func printable(text string, most int) string {
	text = strconv.Quote(text)
	text = strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// invocationHandler adds the id of the invocation to records that have no request id, as Lambda does.
type invocationHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h invocationHandler) Handle(ctx context.Context, r slog.Record) error {
	invocation, ok := lambdacontext.FromContext(ctx)
	r.Attrs(func(a slog.Attr) bool {
		ok = ok && a.Key != "apiRequestId" && a.Key != "requestId"
		return ok
	})
	if ok {
		r = r.Clone()
		r.AddAttrs(slog.String("requestId", invocation.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h invocationHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return invocationHandler{h.Handler.WithAttrs(attrs)}
}
