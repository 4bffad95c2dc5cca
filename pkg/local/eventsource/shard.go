package eventsource

import (
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// reader reads one shard.
type reader struct {
	m        *Mapping
	shard    string
	read     string // the last sequence number; empty: none
	begin    types.ShardIteratorType
	iterator *string // nil: to be made, behind read
	failing  bool
	lanes    []*lane
	progress *progress
}

// readShard delivers a shard's records until the context ends or the shard is closed, and all of it done: then it gives true.
func (m *Mapping) readShard(ctx context.Context, shard string) bool {
	r := &reader{
		m: m, shard: shard, read: m.done(shard), begin: types.ShardIteratorType(m.config.Stream.StartingPosition),
		progress: &progress{done: func(sequence string) { m.advance(shard, position{SequenceNumber: sequence}) }},
	}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for range m.config.Stream.ParallelizationFactor {
		l := &lane{m: m, shard: shard, progress: r.progress, in: make(chan []*record, 1)}
		r.lanes = append(r.lanes, l)
		running.Go(func() {
			if !l.run(ctx) {
				stop()
			}
		})
	}
	closed := r.run(ctx)
	for _, l := range r.lanes {
		close(l.in)
	}
	running.Wait()
	return closed && ctx.Err() == nil
}

// run reads until the context ends or the shard is closed: then it gives true.
func (r *reader) run(ctx context.Context) (closed bool) {
	for ctx.Err() == nil {
		next := r.m.bell.next() // before reading: who writes meanwhile is heard
		records, err := r.page(ctx)
		if err != nil {
			r.complain(ctx, err)
			pause(ctx, retryEvery, nil)
			continue
		}
		r.failing = false
		if !r.hand(ctx, records) {
			return false
		}
		if r.iterator == nil {
			return true
		}
		if len(records) == 0 {
			pause(ctx, pollEvery, next)
		}
	}
	return false
}

// page reads what comes next. Without an iterator after it the shard has ended.
func (r *reader) page(ctx context.Context) ([]types.Record, error) {
	if r.iterator == nil {
		in := &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &r.m.config.StreamARN, ShardId: &r.shard, ShardIteratorType: r.begin,
		}
		if r.read != "" {
			in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &r.read
		}
		out, err := r.m.config.Streams.GetShardIterator(ctx, in)
		if err != nil {
			return nil, r.lost(err)
		}
		r.iterator = out.ShardIterator
	}
	out, err := r.m.config.Streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
		ShardIterator: r.iterator, Limit: aws.Int32(maxPage),
	})
	if err != nil {
		r.iterator = nil
		return nil, r.lost(err)
	}
	r.iterator = out.NextShardIterator
	return out.Records, nil
}

// lost makes the next read begin with the oldest record there is, where those after the last one are gone.
func (r *reader) lost(err error) error {
	if _, trimmed := errors.AsType[*types.TrimmedDataAccessException](err); trimmed {
		r.read, r.begin = "", types.ShardIteratorTypeTrimHorizon
	}
	return err
}

// complain says once that the stream is not readable.
func (r *reader) complain(ctx context.Context, err error) {
	if _, expired := errors.AsType[*types.ExpiredIteratorException](err); expired || ctx.Err() != nil || r.failing {
		return
	}
	r.failing = true
	r.m.config.Logger.Warn("the stream is not readable, trying again", slog.String("table", r.m.config.Stream.Table), slog.Any("cause", err))
}

// hand gives a page's records to their lanes.
func (r *reader) hand(ctx context.Context, page []types.Record) bool {
	chunks := make([][]*record, len(r.lanes))
	var all []*record
	for i := range page {
		sequence := aws.ToString(page[i].Dynamodb.SequenceNumber)
		if r.read != "" && !less(r.read, sequence) {
			continue // read before
		}
		r.read = sequence
		if changesNothing(&page[i]) {
			continue
		}
		made, err := r.m.record(&page[i])
		if err != nil {
			r.m.config.Logger.Error("a stream record cannot be read and is left out", slog.String("sequenceNumber", sequence), slog.Any("cause", err))
			continue
		}
		all = append(all, made)
		n := 0
		if len(r.lanes) > 1 {
			h := fnv.New32a()
			_, _ = h.Write(made.keys)
			n = int(h.Sum32() % uint32(len(r.lanes))) //nolint:gosec // ten at most
		}
		chunks[n] = append(chunks[n], made)
	}
	r.progress.add(all)
	for i, chunk := range chunks {
		if len(chunk) == 0 {
			continue
		}
		select {
		case r.lanes[i].in <- chunk:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// pause waits until the time is over, the context ends or somebody wakes it.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// progress finds the last record before which all are done. It is safe for concurrent use.
type progress struct {
	mu   sync.Mutex
	open []*record // read and not known to be done, in their order
	done func(sequence string)
}

func (p *progress) add(records []*record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, records...)
}

// finish notes that records are done.
func (p *progress) finish(records []*record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range records {
		r.done = true
	}
	n := 0
	for n < len(p.open) && p.open[n].done {
		n++
	}
	if n == 0 {
		return
	}
	last := p.open[n-1].engine
	p.open = append([]*record(nil), p.open[n:]...)
	p.done(last)
}
