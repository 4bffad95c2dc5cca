package dynamo

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is how long to wait before the next attempt: a random part of a time that doubles with each. (The SDK's own begins at two
// seconds, which is most of what a request has.)
type backoff struct{ first, most time.Duration }

// BackoffDelay implements the SDK's retry.BackoffDelayer. attempt is the number of attempts made, from 1.
func (b backoff) BackoffDelay(attempt int, _ error) (time.Duration, error) {
	return rand.N(min(b.first<<min(attempt-1, 16), b.most)) + 1, nil //nolint:gosec // jitter is no secret
}

// betweenAttempts is for faults: DynamoDB answers in milliseconds, and an engine restarts in tens of them.
func betweenAttempts() backoff {
	return backoff{first: 25 * time.Millisecond, most: 500 * time.Millisecond}
}

// betweenRaces is for lost races: what is waited for is another's write.
func betweenRaces() backoff {
	return backoff{first: 5 * time.Millisecond, most: 100 * time.Millisecond}
}

// Pause waits after a lost race, longer with each and with jitter, or gives the context's error when that ends first. attempt is the
// number of attempts made, from 1.
func Pause(ctx context.Context, attempt int) error { return pause(ctx, betweenRaces(), attempt) }

// PauseFault is Pause after a fault, for calls that are made Once.
func PauseFault(ctx context.Context, attempt int) error {
	return pause(ctx, betweenAttempts(), attempt)
}

func pause(ctx context.Context, between backoff, attempt int) error {
	delay, err := between.BackoffDelay(attempt, nil)
	if err != nil {
		return err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
