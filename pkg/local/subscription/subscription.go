package subscription

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toggleadmin/pkg/local/checkpoint"
)

// What a batch holds at most. Source: docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html.
const (
	maxBatchLines = 10000
	maxBatchBytes = 1 << 20
)

const (
	window      = time.Second // how long lines wait for others
	concurrency = 4           // batches in their first call at once
)

// Config is everything that a Subscription takes from outside.
type Config struct {
	Dir      string // of the spool and the checkpoint; empty: both go with the process
	LogGroup string
	Filter   string // the subscription filter's name
	Owner    string // account
	// Deliver calls the function as for an asynchronous event that failed tries times before, and tells of each failure more. An error
	// means that the program ends before the event is done.
	Deliver func(ctx context.Context, trigger string, payload []byte, tries int, failed func(tries int) error) error
	Now     func() time.Time
	Logger  *slog.Logger
}

// Subscription is one subscription.
type Subscription struct {
	config     Config
	spool      *spool
	checkpoint checkpoint.File
	calls      chan struct{}
	missing    atomic.Int64 // lines that Append could not write since it last could

	mu    sync.Mutex
	state state
}

// state is what the checkpoint keeps.
type state struct {
	Next place  `json:"next"` // behind the last line that is in a batch
	Open []span `json:"open"` // batches that are not done
}

// Open opens the spool and goes on where an earlier process ended.
func Open(c Config) (*Subscription, error) {
	s := &Subscription{config: c, calls: make(chan struct{}, concurrency)}
	lines, err := openSpool(c.Dir, c.Now())
	if err != nil {
		return nil, err
	}
	s.spool = lines
	if c.Dir != "" {
		s.checkpoint = checkpoint.File{Path: filepath.Join(c.Dir, "batches.json")}
	}
	if err := s.checkpoint.Load(&s.state); err != nil {
		c.Logger.Warn("all lines of the access log are delivered again", slog.Any("cause", err))
		s.state = state{}
	}
	return s, nil
}

// Append takes a line. It returns when the line is safe from the end of the process.
func (s *Subscription) Append(line []byte, at time.Time) {
	if err := s.spool.append(line, at); err != nil {
		if s.missing.Add(1) == 1 { // once: each request would say so
			s.config.Logger.Error("requests are missing in the access log", slog.Any("cause", err))
		}
		return
	}
	if s.missing.Load() > 0 {
		s.config.Logger.Warn("the access log is written again", slog.Int64("missing", s.missing.Swap(0)))
	}
}

// Close closes the files. Call it when Run has returned and no more lines come.
func (s *Subscription) Close() error { return s.spool.close() }

// Run delivers until the context ends, and then returns as soon as the calls under way have ended.
func (s *Subscription) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	s.mu.Lock()
	open := slices.Clone(s.state.Open)
	s.mu.Unlock()
	for _, batch := range open {
		if !s.start(ctx, &running, batch) {
			return
		}
	}
	for {
		select {
		case <-s.spool.wake:
		case <-ctx.Done():
			return
		}
		if s.waiting() == 0 { // they came in time for the last batch
			continue
		}
		if !s.wait(ctx) {
			return
		}
		for {
			batch, ok := s.cut()
			if !ok {
				break
			}
			if !s.start(ctx, &running, batch) {
				return
			}
		}
	}
}

// waiting is how many bytes are in no batch yet.
func (s *Subscription) waiting() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spool.size(s.state.Next)
}

// wait gives lines time to become many. False: the context has ended.
func (s *Subscription) wait(ctx context.Context) bool {
	timer := time.NewTimer(window)
	defer timer.Stop()
	for {
		if s.waiting() >= maxBatchBytes {
			return true
		}
		tick := time.NewTimer(window / 20)
		select {
		case <-timer.C:
			tick.Stop()
			return true
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return false
		}
	}
}

// cut makes a batch of the next lines, and notes it before anybody has seen it.
func (s *Subscription) cut() (span, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch, ok := s.spool.next(s.state.Next)
	if !ok {
		return span{}, false
	}
	s.state.Next = place{batch.Segment, batch.To}
	s.state.Open = append(s.state.Open, batch)
	s.save()
	return batch, true
}

// start delivers a batch in a goroutine, once there are not too many in their first call. False: the context has ended.
func (s *Subscription) start(ctx context.Context, running *sync.WaitGroup, batch span) bool {
	select {
	case s.calls <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	running.Go(func() { s.deliver(ctx, batch, sync.OnceFunc(func() { <-s.calls })) })
	return true
}

// deliver calls the function with a batch; called is told when the first call has ended.
func (s *Subscription) deliver(ctx context.Context, batch span, called func()) {
	defer called()
	content, err := s.spool.read(batch)
	if err != nil {
		s.config.Logger.Error("lines of the access log are lost", slog.Any("cause", err))
		s.done(batch)
		return
	}
	payload, n, err := s.event(batch, content)
	if err != nil {
		s.config.Logger.Error("lines of the access log are lost", slog.Any("cause", err))
		s.done(batch)
		return
	}
	trigger := fmt.Sprintf("log %s, %d lines", s.config.LogGroup, n)
	if n == 1 {
		trigger = "log " + s.config.LogGroup + ", 1 line"
	}
	err = s.config.Deliver(ctx, trigger, payload, batch.Tries, func(tries int) error {
		called()
		s.failed(batch, tries)
		return nil
	})
	if err == nil {
		s.done(batch)
	}
}

func (b span) is(other span) bool { return b.Segment == other.Segment && b.From == other.From }

// failed notes a failed try.
func (s *Subscription) failed(batch span, tries int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.state.Open, batch.is); i >= 0 {
		s.state.Open[i].Tries = tries
	}
	s.save()
}

// done notes that a batch needs no more calls, and deletes what nobody needs any more.
func (s *Subscription) done(batch span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Open = slices.DeleteFunc(s.state.Open, batch.is)
	s.save()
	kept := func(name string) bool {
		return slices.ContainsFunc(s.state.Open, func(open span) bool { return open.Segment == name })
	}
	if err := s.spool.drop(s.state.Next.Segment, kept); err != nil {
		s.config.Logger.Warn("a file of the access log cannot be deleted", slog.Any("cause", err))
	}
}

func (s *Subscription) save() {
	if err := s.checkpoint.Save(&s.state); err != nil {
		s.config.Logger.Warn("lines of the access log may be delivered again after a restart", slog.Any("cause", err))
	}
}
