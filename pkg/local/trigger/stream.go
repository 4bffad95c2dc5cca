package trigger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"toggleadmin/pkg/local/datafile"
	"toggleadmin/pkg/samtemplate"
)

// How often a stream is read that has no new records, and a queue that has no messages. Reading a stream is a request
// to the engine; 20 requests per second take 2 % of a CPU. A queue is in the memory of this process.
const (
	streamInterval = 100 * time.Millisecond
	queueInterval  = 5 * time.Millisecond
)

// stream delivers the records of a table's stream to a function.
type stream struct {
	*Triggers
	function   *samtemplate.Function
	source     samtemplate.Stream
	streams    *dynamodbstreams.Client
	response   *responseBody
	checkpoint string // path of the file that contains done

	eventSourceARN string
	shard          string
	iterator       *string // nil: it is to be requested
	done           position
	batch          []events.DynamoDBEventRecord // read and not done
	attempt        int                          // failures since the last success
}

// position is the place of a record in a stream.
type position struct {
	Shard          string `json:"shard"` // ARN of the stream and id of the shard
	SequenceNumber string `json:"sequenceNumber"`
}

func newStream(t *Triggers, f *samtemplate.Function, source samtemplate.Stream) *stream {
	cfg, response := t.AWS, &responseBody{HTTPClient: t.AWS.HTTPClient}
	cfg.HTTPClient = response
	return &stream{
		Triggers: t, function: f, source: source, streams: dynamodbstreams.NewFromConfig(cfg), response: response,
		checkpoint: filepath.Join(t.folder, "stream-"+f.LogicalID+"-"+source.Table+".json"),
	}
}

// run delivers records until the context ends.
func (s *stream) run(ctx context.Context) {
	for pause(ctx, s.step(ctx)) {
	}
}

// step reads a batch if there is none, invokes the function with it once and returns the time until the next step.
func (s *stream) step(ctx context.Context) time.Duration {
	var err error
	if len(s.batch) == 0 {
		if err = s.read(ctx); err == nil {
			s.attempt = 0
		}
	}
	if err == nil {
		if len(s.batch) == 0 {
			return streamInterval
		}
		err = s.deliver(ctx)
	}
	if err == nil {
		return 0
	}
	s.attempt++
	if ctx.Err() == nil {
		s.Logger.Warn("stream records are not delivered, trying again", slog.String("table", s.source.Table),
			slog.Any("cause", err))
	}
	return backoff(s.attempt)
}

// read reads the next batch.
func (s *stream) read(ctx context.Context) error {
	if s.iterator == nil {
		if err := s.open(ctx); err != nil {
			return err
		}
	}
	out, err := s.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
		ShardIterator: s.iterator, Limit: aws.Int32(int32(min(s.source.BatchSize, 1000))), //nolint:gosec // at most 1000
	})
	if err != nil {
		s.iterator = nil
		return err
	}
	var event events.DynamoDBEvent // the response has its form
	if err := json.Unmarshal(s.response.content, &event); err != nil {
		return err
	}
	s.iterator = out.NextShardIterator
	for _, r := range event.Records {
		// The engine also creates a record for a write that leaves the item as it was. DynamoDB does not.
		before, names := r.Change.OldImage, s.source.EventNames
		changed := before == nil || !reflect.DeepEqual(before, r.Change.NewImage)
		if changed && (names == nil || slices.Contains(names, r.EventName)) {
			r.AWSRegion, r.EventSourceArn = s.Region, s.eventSourceARN
			s.batch = append(s.batch, r)
		}
	}
	return nil
}

// responseBody is an HTTP client that keeps the body of the last response. It is not safe for concurrent use.
type responseBody struct {
	aws.HTTPClient
	content []byte
}

// Do implements aws.HTTPClient.
func (b *responseBody) Do(r *http.Request) (*http.Response, error) {
	response, err := b.HTTPClient.Do(r)
	if err != nil {
		return nil, err
	}
	b.content, err = io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(b.content))
	return response, err
}

// open requests an iterator that begins after the checkpoint, or with the oldest record if there is no checkpoint.
func (s *stream) open(ctx context.Context) error {
	name := s.source.Table
	listed, err := s.streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: &name})
	if err != nil {
		return err
	}
	if len(listed.Streams) == 0 {
		return errors.New("the table has no stream")
	}
	latest := listed.Streams[len(listed.Streams)-1]
	s.eventSourceARN = "arn:aws:dynamodb:" + s.Region + ":" + s.AccountID + ":table/" + name + "/stream/" +
		aws.ToString(latest.StreamLabel)
	described, err := s.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: latest.StreamArn})
	if err != nil {
		return err
	}
	for _, shard := range described.StreamDescription.Shards {
		s.shard = aws.ToString(shard.ShardId) // the last one
	}
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: latest.StreamArn, ShardId: &s.shard, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	s.load()
	if shard := *latest.StreamArn + "/" + s.shard; s.done.Shard != shard {
		s.done = position{Shard: shard}
	}
	if s.done.SequenceNumber != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &s.done.SequenceNumber
	}
	found, err := s.streams.GetShardIterator(ctx, in)
	if err != nil {
		return err
	}
	s.iterator = found.ShardIterator
	return nil
}

// load reads the checkpoint. One that is empty or cut, for example by a power failure, is like a missing one: records
// are delivered again.
func (s *stream) load() {
	s.done = position{}
	content, err := os.ReadFile(s.checkpoint)
	if err == nil {
		err = json.Unmarshal(content, &s.done)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Logger.Warn("the checkpoint of a stream is not valid: beginning with the oldest record",
			slog.String("file", s.checkpoint), slog.Any("cause", err))
	}
}

// advance removes the first n records from the batch and moves the checkpoint after them.
func (s *stream) advance(n int) error {
	if n == 0 {
		return nil
	}
	s.done.SequenceNumber = s.batch[n-1].Change.SequenceNumber
	s.batch = s.batch[n:]
	content, err := json.Marshal(s.done)
	if err != nil {
		return err
	}
	return datafile.Replace(s.checkpoint, content)
}

// deliver invokes the function with the batch and removes the records that are done from the batch: those that the
// function has processed and, if it was the last attempt, the others.
func (s *stream) deliver(ctx context.Context) error {
	source := fmt.Sprintf("stream of %s, %s", s.source.Table, count(len(s.batch), "record"))
	ids := make([]string, len(s.batch))
	for i := range s.batch {
		ids[i] = s.batch[i].Change.SequenceNumber
	}
	failed, id, err := s.invokeBatch(s.function, source, events.DynamoDBEvent{Records: s.batch}, ids)
	if ctx.Err() != nil && err != nil { // it may have been interrupted
		return err
	}
	if err == nil {
		processed := len(s.batch)
		if len(failed) > 0 {
			processed = slices.Min(failed)
			err = fmt.Errorf("the function reports sequence number %s", ids[processed])
		}
		if err := s.advance(processed); err != nil {
			return fmt.Errorf("write the checkpoint: %w", err)
		}
	}
	if err == nil || s.source.RetryAttempts < 0 || s.attempt < s.source.RetryAttempts {
		return err
	}
	first, last := &s.batch[0].Change, &s.batch[len(s.batch)-1].Change
	err = s.discard(s.source.OnFailure, source, failure{id, s.Functions[s.function.LogicalID].ARN, "RetryAttemptsExhausted", s.attempt + 1},
		map[string]any{
			"DDBStreamBatchInfo": map[string]any{
				"shardId": s.shard, "streamArn": s.eventSourceARN, "batchSize": len(s.batch),
				"startSequenceNumber": first.SequenceNumber, "endSequenceNumber": last.SequenceNumber,
				"approximateArrivalOfFirstRecord": first.ApproximateCreationDateTime.UTC().Format(time.RFC3339),
				"approximateArrivalOfLastRecord":  last.ApproximateCreationDateTime.UTC().Format(time.RFC3339),
			},
		})
	if err != nil {
		return err
	}
	return s.advance(len(s.batch))
}
