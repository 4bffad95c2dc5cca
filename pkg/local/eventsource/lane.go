package eventsource

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"toggleadmin/pkg/local/invocation"
)

const (
	maxPayload  = 6 * 1024 * 1024 // of a batch's event
	firstWait   = 200 * time.Millisecond
	longestWait = 30 * time.Second
)

// lane delivers records in their order, one batch at a time.
type lane struct {
	m        *Mapping
	shard    string
	progress *progress
	in       chan []*record
	waiting  []*record // read and in no batch yet
}

// run delivers until the channel is closed and all is done: then it gives true. False: the context or the program ends.
func (l *lane) run(ctx context.Context) bool {
	for {
		batch := l.collect(ctx)
		if ctx.Err() != nil {
			return false
		}
		if len(batch) == 0 {
			return true
		}
		if !l.deliver(ctx, batch, 0) {
			return false
		}
	}
}

// collect makes the next batch: what is there, and what comes within the window. Empty: the channel is closed, or the context has ended.
func (l *lane) collect(ctx context.Context) []*record {
	if len(l.waiting) == 0 {
		select {
		case l.waiting = <-l.in:
		case <-ctx.Done():
			return nil
		}
	}
	var window <-chan time.Time
	if w := l.m.config.Stream.BatchingWindow; w > 0 {
		timer := time.NewTimer(w)
		defer timer.Stop()
		window = timer.C
	}
	for {
		if n, full := l.fits(); full || len(l.waiting) == 0 {
			return l.take(n)
		}
		if window == nil {
			select {
			case more := <-l.in:
				if more == nil {
					return l.take(len(l.waiting))
				}
				l.waiting = append(l.waiting, more...)
				continue
			default:
				return l.take(len(l.waiting))
			}
		}
		select {
		case more := <-l.in:
			if more == nil {
				return l.take(len(l.waiting))
			}
			l.waiting = append(l.waiting, more...)
		case <-window:
			return l.take(len(l.waiting))
		case <-ctx.Done():
			return nil
		}
	}
}

// fits says how many of the waiting records make a batch, and whether it is full.
func (l *lane) fits() (n int, full bool) {
	size := 0
	for i, r := range l.waiting {
		size += len(r.event) + 1
		if i == l.m.config.Stream.BatchSize || i > 0 && size > maxPayload-64 {
			return i, true
		}
	}
	return len(l.waiting), len(l.waiting) == l.m.config.Stream.BatchSize
}

func (l *lane) take(n int) []*record {
	batch := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	return batch
}

// deliver calls the function with a batch until all of it is done or given up. False: the context or the program ends before.
func (l *lane) deliver(ctx context.Context, batch []*record, calls int) bool {
	stream := &l.m.config.Stream
	for retries := 0; ; {
		batch = l.dropOld(batch, calls)
		if len(batch) == 0 {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		output, id, err := l.m.config.Call(ctx, trigger(stream.Table, len(batch)), payload(batch))
		if err != nil && l.m.config.Stop(err) {
			return false
		}
		calls++
		taken := 0
		if err == nil {
			taken = l.taken(batch, output)
		}
		l.progress.finish(batch[:taken])
		batch = batch[taken:]
		switch {
		case len(batch) == 0:
			return true
		case stream.Bisect && taken > 0: // split at the reported number
			continue
		case stream.Bisect && len(batch) > 1:
			half := (len(batch) + 1) / 2
			return l.deliver(ctx, batch[:half], calls) && l.deliver(ctx, batch[half:], calls)
		case stream.RetryAttempts >= 0 && retries >= stream.RetryAttempts:
			l.giveUp(batch, "RetryAttemptsExhausted", id, calls)
			return true
		}
		wait := min(firstWait<<min(retries, 10), longestWait)
		l.m.config.Logger.Warn("stream records will be delivered again", slog.String("table", stream.Table), slog.Int("records", len(batch)),
			slog.String("startSequenceNumber", batch[0].sequence), slog.Float64("afterSeconds", wait.Seconds()))
		pause(ctx, wait, nil)
		retries++
	}
}

func trigger(table string, n int) string {
	if n == 1 {
		return "stream of " + table + ", 1 record"
	}
	return fmt.Sprintf("stream of %s, %d records", table, n)
}

// taken says how many records, from the first on, the function has taken by its answer.
func (l *lane) taken(batch []*record, output []byte) int {
	if !l.m.config.Stream.ReportFailures {
		return len(batch)
	}
	taken, err := taken(batch, output)
	if err != nil {
		l.m.config.Logger.Warn("the function's batchItemFailures fail the whole batch", slog.Any("cause", err))
	}
	return taken
}

// dropOld gives up the records, from the first on, that are too old.
func (l *lane) dropOld(batch []*record, calls int) []*record {
	age := l.m.config.Stream.RecordAge
	if age <= 0 {
		return batch
	}
	n, now := 0, l.m.config.Now()
	for n < len(batch) && now.Sub(batch[n].made) > age {
		n++
	}
	if n > 0 {
		l.giveUp(batch[:n], "RecordAgeExceeded", "", calls)
	}
	return batch[n:]
}

// giveUp sends the metadata of records to the on-failure queue and counts them as done.
func (l *lane) giveUp(batch []*record, condition, id string, calls int) {
	c := &l.m.config
	first, last := batch[0], batch[len(batch)-1]
	c.Logger.Error("stream records are given up", slog.String("table", c.Stream.Table), slog.String("condition", condition),
		slog.Int("records", len(batch)), slog.String("startSequenceNumber", first.sequence), slog.String("queue", c.Stream.OnFailure))
	if c.OnFailure != nil {
		message := map[string]any{
			"requestContext": map[string]any{
				"requestId": id, "functionArn": c.FunctionARN, "condition": condition, "approximateInvokeCount": calls,
			},
			"responseContext": invocation.ResponseContext(),
			"version":         "1.0",
			"timestamp":       invocation.Timestamp(c.Now()),
			"DDBStreamBatchInfo": map[string]any{
				"shardId": l.shard, "startSequenceNumber": first.sequence, "endSequenceNumber": last.sequence,
				"approximateArrivalOfFirstRecord": first.made.UTC().Format(time.RFC3339),
				"approximateArrivalOfLastRecord":  last.made.UTC().Format(time.RFC3339),
				"batchSize":                       len(batch), "streamArn": c.EventARN,
			},
		}
		text, err := json.Marshal(message)
		if err == nil {
			err = c.OnFailure(text)
		}
		if err != nil {
			c.Logger.Error("what was given up is not in its queue", slog.Any("cause", err))
		}
	}
	l.progress.finish(batch)
}
