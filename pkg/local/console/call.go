package console

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// callText writes the line of a call beside the API and, beneath it, the records that were held for it. It has the columns of a request.
// A routine call without a record is not worth a line.
func (c *Console) callText(call *Call) {
	var b bytes.Buffer
	status, color, end, dim := "ok ", "", "", ""
	if c.options.Color {
		color, end, dim = good, plain, faint
	}
	if call.Cause != "" {
		status = "ERR"
		if c.options.Color {
			color = ours
		}
	}
	fmt.Fprintf(&b, "%s %-*s %-*s %s%s%s %-*s %s%8.1f ms  %s%s\n",
		c.options.Now().Format("15:04:05"), methodWidth, "event", pathWidth, printable(call.Trigger, maxTextPath),
		color, status, end, functionWidth, call.Function, dim, milliseconds(call.Duration), call.ID, end)
	if call.Cause != "" {
		writeLines(&b, "cause", call.Cause)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	records := c.pending.take(call.ID)
	if call.Routine && call.Cause == "" && len(records) == 0 {
		return
	}
	for _, text := range records {
		b.Write(text)
	}
	c.write(b.Bytes())
}

// calls names the call that a record belongs to, as Lambda does, where the record does not.
type calls struct {
	console *Console
	slog.Handler
}

// Handle implements slog.Handler.
func (h calls) Handle(ctx context.Context, r slog.Record) error {
	call, ok := lambdacontext.FromContext(ctx)
	if !ok || !h.console.hasBegun(call.AwsRequestID) {
		return h.Handler.Handle(ctx, r)
	}
	named := false
	r.Attrs(func(a slog.Attr) bool {
		named = named || a.Key == "requestId"
		return !named
	})
	if !named {
		r = r.Clone()
		r.AddAttrs(slog.String("requestId", call.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h calls) WithAttrs(attrs []slog.Attr) slog.Handler {
	return calls{h.console, h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h calls) WithGroup(name string) slog.Handler {
	return calls{h.console, h.Handler.WithGroup(name)}
}
