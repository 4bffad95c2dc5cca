package eventlog

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

// source reads the events of one partition, page by page, newest first or oldest first.
type source struct {
	reader  *Reader
	input   *dynamodb.QueryInput
	filter  Filter
	limit   int     // how many events the next page examines
	oldest  bool    // first
	found   []Event // not yet taken
	reached int64   // the id of the last event that was examined, or of none before the first page
	began   bool
	done    bool // there is no further page
}

const (
	// maxRead is the maximum number of events that a page examines. DynamoDB ends a page at 1 MB.
	maxRead = 10_000
	// growth is by how much a page is larger than the one before it: a search that finds little reads more at a time.
	growth = 4
)

// reverse makes the source read the oldest events first. Nothing must have been read.
func (s *source) reverse() {
	s.oldest, s.input.ScanIndexForward = true, aws.Bool(true)
	s.reached = 0
}

// before reports whether an event with the id a comes before one with the id b.
func (s *source) before(a, b int64) bool {
	if s.oldest {
		return a < b
	}
	return a > b
}

// read reads the next page.
func (s *source) read(ctx context.Context) error {
	s.input.Limit = aws.Int32(int32(s.limit)) //nolint:gosec // at most maxRead
	out, err := s.reader.client.Query(ctx, s.input)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	s.found = append(s.found, s.selected(out.Items)...)
	s.limit = min(s.limit*growth, maxRead)
	s.began = true
	if s.input.ExclusiveStartKey = out.LastEvaluatedKey; out.LastEvaluatedKey == nil {
		s.done = true
	} else {
		s.reached = dynamo.Item(out.LastEvaluatedKey).Int(AttributeID)
	}
	return nil
}

// selected returns the events that the filter selects.
func (s *source) selected(items []map[string]types.AttributeValue) (all []Event) {
	for _, item := range items {
		if e, ok := FromItem(item); ok && s.filter.selects(e) {
			all = append(all, e)
		}
	}
	return all
}

// frontier returns the id of an event up to which all sources have been examined. began is false if one of them has not
// been read at all. If all are done, the id is 0.
func frontier(sources []*source) (id int64, began bool) {
	began = true
	for _, s := range sources {
		if s.done {
			continue
		}
		began = began && s.began
		if id == 0 || s.before(s.reached, id) {
			id = s.reached
		}
	}
	return id, began
}

// walk returns the events of all sources in the order of their ids. After an error it first returns those that precede
// all events that were not read.
func walk(ctx context.Context, sources []*source) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			err := parallel(sources, func(s *source) error {
				if s.done || len(s.found) > 0 {
					return nil
				}
				return s.read(ctx)
			})
			for e := range examined(sources) {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !slices.ContainsFunc(sources, func(s *source) bool { return !s.done }) {
				return
			}
		}
	}
}

// examined takes the events from the sources that precede all events that were not read, in the order of their ids.
func examined(sources []*source) iter.Seq[Event] {
	reached, began := frontier(sources)
	return func(yield func(Event) bool) {
		for began {
			var next *source
			for _, s := range sources {
				if len(s.found) > 0 && (next == nil || s.before(s.found[0].ID, next.found[0].ID)) {
					next = s
				}
			}
			if next == nil || reached != 0 && next.before(reached, next.found[0].ID) {
				return
			}
			e := next.found[0]
			next.found = next.found[1:]
			if !yield(e) {
				return
			}
		}
	}
}

const (
	// maxCount is the number up to which a total is exact.
	maxCount = 10_000
	// maxCountPages limits the pages of 1 MB that are read to count events. Each costs 128 read units.
	maxCountPages = 10
)

// count returns the number of events that were found, and of those that the sources have not returned. It stops soon
// after maxCount events, after maxCountPages pages, or when the context ends. The total is then not exact. It reads
// with eventual consistency. A search for all events, or for all of some types of which there are further pages, has
// too many results in a log with more than maxCount events: it counts nothing.
func (r *Reader) count(
	ctx context.Context, f Filter, sources []*source, found int, hasNext bool,
) (total int, exact bool, err error) {
	left := slices.DeleteFunc(slices.Clone(sources), func(s *source) bool { return s.done })
	everyType := f
	everyType.Types = nil
	if len(left) > 0 && hasNext && reflect.DeepEqual(everyType, Filter{}) {
		if large, err := r.isLarge(ctx); err != nil || large {
			if len(f.Types) == 0 {
				found = max(found, maxCount)
			}
			return found, false, err
		}
	}
	for _, s := range sources {
		found += len(s.found)
	}
	var counted, pages atomic.Int64
	counted.Store(int64(found))
	err = parallel(left, func(s *source) error {
		for !s.done && ctx.Err() == nil && counted.Load() <= maxCount && pages.Add(1) <= maxCountPages {
			n, err := s.count(ctx)
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("count events: %w", err)
			}
			counted.Add(int64(n))
		}
		return nil
	})
	total = int(counted.Load())
	exact = total <= maxCount && !slices.ContainsFunc(left, func(s *source) bool { return !s.done })
	return total, exact, err
}

// isLarge reports whether the log has more than maxCount events without doubt. DynamoDB's count of the items is up to
// six hours old, and the time to live may have deleted some of them since.
func (r *Reader) isLarge(ctx context.Context) (bool, error) {
	out, err := r.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &r.table})
	if err != nil && ctx.Err() == nil {
		return false, fmt.Errorf("count events: %w", err)
	}
	return err == nil && aws.ToInt64(out.Table.ItemCount) > 2*maxCount, nil
}

// count returns the number of events of the next page.
func (s *source) count(ctx context.Context) (int, error) {
	s.input.Limit = aws.Int32(maxRead)
	if s.input.IndexName == nil {
		s.input.ConsistentRead = aws.Bool(false)
	}
	byCondition := s.filter.Text == "" && s.filter.Visible == nil
	if byCondition {
		s.input.Select = types.SelectCount
	}
	out, err := s.reader.client.Query(ctx, s.input)
	if err != nil {
		return 0, err
	}
	s.input.ExclusiveStartKey, s.done = out.LastEvaluatedKey, out.LastEvaluatedKey == nil
	if byCondition {
		return int(out.Count), nil
	}
	return len(s.selected(out.Items)), nil
}

// parallel calls f for each source and returns one of the errors: all have the same cause.
func parallel(sources []*source, f func(*source) error) error {
	errs := make([]error, len(sources))
	var all sync.WaitGroup
	for i, s := range sources {
		all.Go(func() { errs[i] = f(s) })
	}
	all.Wait()
	return cmp.Or(errs...)
}
