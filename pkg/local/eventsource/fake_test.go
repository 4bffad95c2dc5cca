package eventsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"toggleadmin/pkg/local/eventsource"
	"toggleadmin/pkg/samtemplate"
)

var (
	errFunction = errors.New("the function fails")
	errStop     = errors.New("the program ends")
)

// fakeStream has shards of records. An iterator is "<shard>/<index>".
type fakeStream struct {
	mu     sync.Mutex
	shards []types.Shard
	data   map[string][]types.Record
	closed map[string]bool
	fail   error // of the next GetRecords
	reads  int
}

func newStream(ids ...string) *fakeStream {
	s := &fakeStream{data: map[string][]types.Record{}, closed: map[string]bool{}}
	for _, id := range ids {
		s.shards = append(s.shards, types.Shard{ShardId: aws.String(id)})
	}
	return s
}

// insert adds a record with that sequence number, of an item of the same id.
func (s *fakeStream) insert(shard string, sequence int) {
	s.put(shard, types.Record{EventName: types.OperationTypeInsert, Dynamodb: &types.StreamRecord{
		ApproximateCreationDateTime: aws.Time(time.Now()), SequenceNumber: aws.String(strconv.Itoa(sequence)),
		Keys: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: strconv.Itoa(sequence)}},
	}})
}

func (s *fakeStream) put(shard string, r types.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[shard] = append(s.data[shard], r)
}

func (s *fakeStream) DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (
	*dynamodbstreams.DescribeStreamOutput, error,
) {
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: &types.StreamDescription{Shards: s.shards}}, nil
}

func (s *fakeStream) GetShardIterator(_ context.Context, in *dynamodbstreams.GetShardIteratorInput, _ ...func(*dynamodbstreams.Options)) (
	*dynamodbstreams.GetShardIteratorOutput, error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := 0
	switch in.ShardIteratorType { //nolint:exhaustive // the others are not used
	case types.ShardIteratorTypeLatest:
		at = len(s.data[*in.ShardId])
	case types.ShardIteratorTypeAfterSequenceNumber:
		for i := range s.data[*in.ShardId] {
			if *s.data[*in.ShardId][i].Dynamodb.SequenceNumber == *in.SequenceNumber {
				at = i + 1
			}
		}
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(fmt.Sprintf("%s %d", *in.ShardId, at))}, nil
}

func (s *fakeStream) GetRecords(_ context.Context, in *dynamodbstreams.GetRecordsInput, _ ...func(*dynamodbstreams.Options)) (
	*dynamodbstreams.GetRecordsOutput, error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if err := s.fail; err != nil {
		s.fail = nil
		return nil, err
	}
	var shard string
	var at int
	if _, err := fmt.Sscan(*in.ShardIterator, &shard, &at); err != nil {
		return nil, err
	}
	out := &dynamodbstreams.GetRecordsOutput{Records: s.data[shard][at:]}
	if !s.closed[shard] {
		out.NextShardIterator = aws.String(fmt.Sprintf("%s %d", shard, len(s.data[shard])))
	}
	return out, nil
}

// call is one call of the function: when, after the begin, and with which records, by their engine's sequence numbers.
type call struct {
	At      time.Duration
	Records []int
}

// setup is a mapping under test.
type setup struct {
	stream   *fakeStream
	config   eventsource.Config
	answer   func(records []int) (string, error)
	begin    time.Time
	mu       sync.Mutex
	calls    []call
	given    []map[string]any
	payloads [][]byte
}

// newSetup makes a mapping of the only shard "s" of a stream with records 1 to n.
func newSetup(n int) *setup {
	s := &setup{stream: newStream("s"), begin: time.Now(), answer: func([]int) (string, error) { return "", nil }}
	for i := range n {
		s.stream.insert("s", i+1)
	}
	s.config = eventsource.Config{
		Stream: samtemplate.Stream{
			Table: "Things", StartingPosition: "TRIM_HORIZON", BatchSize: 100, RetryAttempts: -1, RecordAge: -1, ParallelizationFactor: 1,
		},
		Streams: s.stream, StreamARN: "arn:engine", EventARN: "arn:aws", Region: "eu-west-1", FunctionARN: "arn:function",
		Call: s.call, Stop: func(err error) bool { return errors.Is(err, errStop) },
		OnFailure: func(message []byte) error {
			var given map[string]any
			defer func() { s.given = append(s.given, given) }()
			return json.Unmarshal(message, &given)
		},
		Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	return s
}

func (s *setup) call(_ context.Context, _ string, payload []byte) ([]byte, string, error) {
	var event events.DynamoDBEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, "", err
	}
	var records []int
	for i := range event.Records {
		n, err := strconv.Atoi(event.Records[i].Change.SequenceNumber[1:])
		if err != nil {
			return nil, "", err
		}
		records = append(records, n)
	}
	s.mu.Lock()
	s.calls = append(s.calls, call{time.Since(s.begin), records})
	s.payloads = append(s.payloads, payload)
	answer, id := s.answer, fmt.Sprintf("call-%d", len(s.calls))
	s.mu.Unlock()
	output, err := answer(records)
	return []byte(output), id, err
}

// run runs the mapping for a time of the bubble.
func (s *setup) run(tb testing.TB, d time.Duration, meanwhile ...func(m *eventsource.Mapping)) {
	tb.Helper()
	m := eventsource.New(s.config)
	ctx, cancel := context.WithTimeout(tb.Context(), d)
	defer cancel()
	for _, do := range meanwhile {
		go do(m)
	}
	m.Run(ctx)
	synctest.Wait()
}

// batches are the records of each call.
func (s *setup) batches() (all [][]int) {
	for _, c := range s.calls {
		all = append(all, c.Records)
	}
	return all
}

// sequence is the sequence number of a record as the function sees it.
func sequence(n int) string { return fmt.Sprintf("1%020d", n) }

// failing is the answer that reports records.
func failing(identifiers ...string) string {
	type failure struct {
		Identifier string `json:"itemIdentifier"`
	}
	var failures []failure
	for _, id := range identifiers {
		failures = append(failures, failure{id})
	}
	text, _ := json.Marshal(map[string]any{"batchItemFailures": failures})
	return string(text)
}
