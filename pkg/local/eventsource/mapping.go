package eventsource

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"toggleadmin/pkg/local/checkpoint"
	"toggleadmin/pkg/samtemplate"
)

const (
	pollEvery  = 150 * time.Millisecond // where nobody nudges: writes from outside
	retryEvery = time.Second            // after an error of the stream
	maxPage    = 1000                   // records of one GetRecords, its most
)

// Streams is the part of the DynamoDB streams API that a Mapping reads with.
type Streams interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (
		*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (
		*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (
		*dynamodbstreams.GetRecordsOutput, error)
}

// Config is everything that a Mapping takes from outside.
type Config struct {
	Stream      samtemplate.Stream
	Streams     Streams
	StreamARN   string // of the engine
	EventARN    string // of the stream, as events name it
	Region      string // as events name it
	FunctionARN string
	// Call calls the function, and goes on when the context ends. An error that says Stop ends the mapping with the record not done.
	Call func(ctx context.Context, trigger string, payload []byte) (output []byte, id string, err error)
	Stop func(error) bool
	// OnFailure keeps the metadata of records that are given up. Nil: nobody does.
	OnFailure  func(message []byte) error
	Checkpoint checkpoint.File
	Logger     *slog.Logger
	Now        func() time.Time // the engine's clock: records say when they were made
}

// Mapping is one event source mapping.
type Mapping struct {
	config Config
	bell   bell

	mu    sync.Mutex
	state state
}

// state is what the checkpoint keeps.
type state struct {
	StreamARN string              `json:"streamArn"`
	Shards    map[string]position `json:"shards"`
}

// position is how far a shard is done.
type position struct {
	SequenceNumber string `json:"sequenceNumber,omitempty"` // the engine's, of the last record before which all are done
	Finished       bool   `json:"finished,omitempty"`       // closed, and all of it done
}

// New makes a mapping that goes on where the checkpoint says. A checkpoint of another stream, or one that cannot be read, counts as none.
func New(c Config) *Mapping {
	m := &Mapping{config: c, bell: bell{rung: make(chan struct{})}}
	if err := c.Checkpoint.Load(&m.state); err != nil {
		c.Logger.Warn("the stream is delivered from its start again", slog.Any("cause", err))
	}
	if m.state.StreamARN != c.StreamARN || m.state.Shards == nil {
		m.state = state{StreamARN: c.StreamARN, Shards: map[string]position{}}
	}
	return m
}

// Nudge says that there may be new records. It does not wait.
func (m *Mapping) Nudge() { m.bell.ring() }

// Run delivers until the context ends, and then returns as soon as the calls under way have ended.
func (m *Mapping) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	started := map[string]bool{}
	ended := make(chan struct{}, 1)
	for ctx.Err() == nil {
		shards, err := m.shards(ctx)
		if err != nil && ctx.Err() == nil {
			m.config.Logger.Warn("the stream is not readable, trying again", slog.String("table", m.config.Stream.Table), slog.Any("cause", err))
		}
		for _, shard := range m.ready(shards) {
			if started[shard] {
				continue
			}
			started[shard] = true
			running.Go(func() {
				if m.readShard(ctx, shard) {
					m.advance(shard, position{Finished: true})
				}
				select {
				case ended <- struct{}{}:
				default:
				}
			})
		}
		again := time.NewTimer(retryEvery)
		if err == nil && len(started) > 0 {
			again.Stop() // the next shards come when one has ended
		}
		select {
		case <-again.C:
		case <-ended:
		case <-ctx.Done():
		}
		again.Stop()
	}
}

// shards lists the stream's.
func (m *Mapping) shards(ctx context.Context) ([]types.Shard, error) {
	var shards []types.Shard
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &m.config.StreamARN}
	for {
		out, err := m.config.Streams.DescribeStream(ctx, in)
		if err != nil {
			return nil, err
		}
		shards = append(shards, out.StreamDescription.Shards...)
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return shards, nil
		}
	}
}

// ready are the shards that are not done and whose parents are.
func (m *Mapping) ready(shards []types.Shard) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	listed := map[string]bool{}
	for i := range shards {
		listed[aws.ToString(shards[i].ShardId)] = true
	}
	var ready []string
	for i := range shards {
		id, parent := aws.ToString(shards[i].ShardId), aws.ToString(shards[i].ParentShardId)
		if !m.state.Shards[id].Finished && (!listed[parent] || m.state.Shards[parent].Finished) {
			ready = append(ready, id)
		}
	}
	return ready
}

// done is how far a shard is done.
func (m *Mapping) done(shard string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Shards[shard].SequenceNumber
}

// advance moves the checkpoint.
func (m *Mapping) advance(shard string, to position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.Shards[shard] = to
	if err := m.config.Checkpoint.Save(&m.state); err != nil {
		m.config.Logger.Warn("records that are done will be delivered again after a restart", slog.Any("cause", err))
	}
}

// bell wakes everybody who waits.
type bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

// next is closed when the bell rings next.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}
