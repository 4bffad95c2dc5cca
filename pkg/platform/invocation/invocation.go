// Package invocation contains what the handlers of all Lambda events share: decoding the event, and ending before the
// invocation does.
package invocation

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Margin is the time between the end of a handler's context and the end of the invocation, for handlers that need no
// other one. It is left for cleaning up, for logging and for sending the response.
const Margin = 500 * time.Millisecond

// StopEarly returns a context that ends a margin before the deadline of ctx, if it has one.
func StopEarly(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-margin))
	}
	return context.WithCancel(ctx)
}

// Decode decodes a Lambda event. It takes half the time of encoding/json and is as lenient: the last of duplicate names
// wins, and invalid UTF-8 becomes U+FFFD.
func Decode(payload []byte, into any) error {
	return json.Unmarshal(payload, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
