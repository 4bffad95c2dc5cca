package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/spelling"
)

// indexSubjects has the attribute subject as its partition key and id as its sort key, and all attributes.
const indexSubjects = "subjects"

// Filter selects events. An empty member selects all.
type Filter struct {
	IDs      []int64
	Types    []string
	Subjects []string
	Features []string // names of toggles
	Projects []string
	Users    []int64   // who made the change
	Names    []string  // of who made the change
	Tokens   []string  // that was used for the change
	First    int64     // the lowest id; 0: no limit
	From     time.Time // inclusive; zero: no limit
	Until    time.Time // exclusive; zero: no limit
	// Text is a part of the type, the subject, the name of the actor or a value in data or preData, in any letter case.
	Text string
}

// ErrTooMany reports that the context of a Search ended while it read many events. If DynamoDB is only slow, the error
// is another one.
var ErrTooMany = errors.New("the search covers too many events")

// Search returns the selected events, newest first, without the first offset ones and at most limit, and the number of
// all selected events. The read is consistent, except with Subjects and Features, which use an index.
func (l *Log) Search(ctx context.Context, f Filter, offset, limit int) (page []Event, total int, err error) {
	sources := l.sources(f)
	defer func() {
		if ctx.Err() != nil && slices.ContainsFunc(sources, func(s *source) bool { return s.pages > 1 }) {
			err = errors.Join(ErrTooMany, err)
		}
	}()
	if f.Text == "" { // DynamoDB counts; otherwise every event is read
		if total, err = l.count(ctx, sources); err != nil || total <= offset {
			return nil, total, err
		}
	}
	found := 0
	for e, err := range merged(ctx, sources, f.Text) {
		if err != nil {
			return nil, 0, err
		}
		if found++; found > offset && len(page) < limit {
			page = append(page, e)
		}
		if f.Text == "" && len(page) == limit {
			return page, total, nil
		}
	}
	return page, max(total, found), nil
}

// Newest returns at most limit of the selected events, newest first, without a limit of time.
func (l *Log) Newest(ctx context.Context, f Filter, limit int) (all []Event, err error) {
	for e, err := range merged(ctx, l.sources(f), f.Text) {
		if err != nil {
			return nil, err
		}
		if all = append(all, e); len(all) == limit {
			break
		}
	}
	return all, nil
}

// All returns the selected events, oldest first, without a limit of time.
func (l *Log) All(ctx context.Context, f Filter, yield func(Event) error) error {
	sources := l.sources(f)
	for _, s := range sources {
		s.input.ScanIndexForward = aws.Bool(true)
		s.forward = true
	}
	for e, err := range merged(ctx, sources, f.Text) {
		if err == nil {
			err = yield(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sources returns the queries that together find the events that a filter without its Text selects.
func (l *Log) sources(f Filter) []*source {
	first, last := max(f.First, 1), int64(1)<<53
	if !f.From.IsZero() {
		first = max(first, FirstID(f.From))
	}
	if !f.Until.IsZero() {
		last = FirstID(f.Until) - 1
	}
	if len(f.IDs) > 0 {
		var all []*source
		for _, id := range slices.Compact(slices.Sorted(slices.Values(f.IDs))) {
			all = append(all, l.source(f, attributeShard, partition(id), max(id, first), min(id, last)))
		}
		return all
	}
	var all []*source
	subjects := f.Subjects
	if len(subjects) == 0 {
		for _, name := range f.Features {
			subjects = append(subjects, "toggle:"+name)
		}
	}
	for _, subject := range slices.Compact(slices.Sorted(slices.Values(subjects))) {
		s := l.source(f, attributeSubject, subject, first, last)
		s.input.IndexName, s.input.ConsistentRead = aws.String(indexSubjects), nil
		all = append(all, s)
	}
	if all != nil {
		return all
	}
	for shard := range int64(Shards) {
		all = append(all, l.source(f, attributeShard, partition(shard), first, last))
	}
	return all
}

// source returns the query of the events under a partition key, with ids from first to last.
func (l *Log) source(f Filter, hash, value string, first, last int64) *source {
	input := &dynamodb.QueryInput{
		TableName: &l.table, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression:   aws.String("#hash = :hash AND #id BETWEEN :first AND :last"),
		ExpressionAttributeNames: map[string]string{"#hash": hash, "#id": attributeID, "#type": attributeType},
		ExpressionAttributeValues: dynamo.Item{
			":hash": dynamo.S(value), ":first": dynamo.N(first), ":last": dynamo.N(max(first, last)),
		},
	}
	if last < first { // nothing: until is before from
		return &source{log: l, input: input, done: true}
	}
	filters := []string{"attribute_exists(#type)"} // otherwise the item only prevents a transaction
	oneOf := func(attribute string, n int, value func(i int) types.AttributeValue) {
		if n == 0 {
			return
		}
		input.ExpressionAttributeNames["#"+attribute] = attribute
		names := make([]string, n)
		for i := range n {
			// Short, because an expression has at most 4 KB.
			names[i] = ":" + strconv.FormatInt(int64(len(input.ExpressionAttributeValues)), 36)
			input.ExpressionAttributeValues[names[i]] = value(i)
		}
		filters = append(filters, "#"+attribute+" IN ("+strings.Join(names, ", ")+")")
	}
	oneOfTexts := func(attribute string, all []string) {
		oneOf(attribute, len(all), func(i int) types.AttributeValue { return dynamo.S(all[i]) })
	}
	oneOfTexts(attributeType, f.Types)
	oneOfTexts(attributeProject, f.Projects)
	oneOfTexts(attributeByTokenID, f.Tokens)
	oneOf(attributeByUserID, len(f.Users), func(i int) types.AttributeValue { return dynamo.N(f.Users[i]) })
	oneOfTexts(attributeFeature, f.Features)
	oneOfTexts(attributeBy, f.Names)
	if hash != attributeSubject {
		oneOfTexts(attributeSubject, f.Subjects)
	}
	input.FilterExpression = aws.String(strings.Join(filters, " AND "))
	return &source{log: l, input: input}
}

// count returns the number of events that sources find.
func (l *Log) count(ctx context.Context, sources []*source) (int, error) {
	var total atomic.Int64
	err := parallel(sources, func(s *source) error {
		if s.done {
			return nil
		}
		input := *s.input
		input.Select = types.SelectCount
		for {
			out, err := l.client.Query(ctx, &input)
			if err != nil {
				return fmt.Errorf("count events: %w", err)
			}
			s.pages++
			total.Add(int64(out.Count))
			if input.ExclusiveStartKey = out.LastEvaluatedKey; input.ExclusiveStartKey == nil {
				return nil
			}
		}
	})
	return int(total.Load()), err
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

// source reads the events of one partition, page by page.
type source struct {
	log     *Log
	input   *dynamodb.QueryInput
	forward bool
	read    []Event // not yet taken
	pages   int     // that were read
	done    bool    // there is no further page
}

// pageSize limits the events that are read at a time.
const pageSize = 1000

// fill reads pages until there is an event or no further page.
func (s *source) fill(ctx context.Context) error {
	s.input.Limit = aws.Int32(pageSize)
	for len(s.read) == 0 && !s.done {
		out, err := s.log.client.Query(ctx, s.input)
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		s.pages++
		for _, item := range out.Items {
			if e, ok := FromItem(item); ok {
				s.read = append(s.read, e)
			}
		}
		s.input.ExclusiveStartKey, s.done = out.LastEvaluatedKey, out.LastEvaluatedKey == nil
	}
	return nil
}

// merged returns the events of all sources that contain a text, in the order of their ids.
func merged(ctx context.Context, sources []*source, text string) func(yield func(Event, error) bool) {
	return func(yield func(Event, error) bool) {
		if err := parallel(sources, func(s *source) error { return s.fill(ctx) }); err != nil {
			yield(Event{}, err)
			return
		}
		for {
			var next *source
			for _, s := range sources {
				if len(s.read) > 0 && (next == nil || (s.read[0].ID > next.read[0].ID) != s.forward) {
					next = s
				}
			}
			if next == nil {
				return
			}
			e := next.read[0]
			next.read = next.read[1:]
			if e.contains(text) && !yield(e, nil) {
				return
			}
			if err := next.fill(ctx); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// contains reports whether a text occurs in the type, the subject, the actor's name or a value of the data, in any
// letter case.
func (e Event) contains(text string) bool {
	if text == "" {
		return true
	}
	for _, s := range []string{string(e.Type), string(e.Subject), e.By.Name} {
		if spelling.Contains(s, text) {
			return true
		}
	}
	return valueContains(e.Data, text) || valueContains(e.PreData, text)
}

// valueContains reports whether a text occurs in a value of a JSON object, but not in a name.
func valueContains(data json.RawMessage, text string) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil { // no data
		return false
	}
	return anyContains(v, text)
}

func anyContains(v any, text string) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			if anyContains(member, text) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return anyContains(e, text) })
	case nil:
		return false
	default:
		return spelling.Contains(fmt.Sprint(v), text)
	}
}
