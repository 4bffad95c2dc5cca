package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"toggleadmin/pkg/samtemplate"
)

// Waits before retries, of streams and asynchronous invocations alike.
const (
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second
)

// backoff returns the wait after the nth failure.
func backoff(n int) time.Duration { return min(firstWait<<min(n-1, 10), longestWait) }

// pause waits for d. It returns false if the context ends first.
func pause(ctx context.Context, d time.Duration) bool {
	waiting, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-waiting.Done()
	return ctx.Err() == nil
}

// async invokes a function as Lambda does for an asynchronous event. It returns nil when the function has succeeded or
// the event is discarded. After an error the event is not done: the program is ending, or the on-failure record could
// not be written.
func (t *Triggers) async(ctx context.Context, f *samtemplate.Function, source string, event any) error {
	payload, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("encode the event: %w", err)
	}
	for attempt := 1; ; attempt++ {
		_, id, err := t.invoke(f, source, payload)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil: // it may have been interrupted
			return ctx.Err()
		case attempt > f.AsyncRetries:
			return t.discard(f.AsyncOnFailure, source, failure{id, t.Functions[f.LogicalID].ARN + ":$LATEST", "RetriesExhausted",
				attempt},
				map[string]any{
					"requestPayload":  json.RawMessage(payload),
					"responsePayload": map[string]any{"errorMessage": err.Error(), "errorType": fmt.Sprintf("%T", err)},
				})
		case !pause(ctx, backoff(attempt)):
			return ctx.Err()
		}
	}
}

// count returns a number of things, such as "1 line" or "2 lines".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
