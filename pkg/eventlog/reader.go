package eventlog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/spelling"
)

// Reader reads the event log. It is safe for concurrent use.
type Reader struct {
	client *dynamodb.Client
	table  string
	now    func() time.Time
}

// NewReader returns the reader of a log.
func NewReader(log *Log) *Reader {
	return &Reader{client: log.client, table: log.table, now: log.now}
}

// indexSubjects has the attribute subject as its partition key and id as its sort key, and all attributes.
const indexSubjects = "subjects"

// Filter selects events. An empty property selects all.
type Filter struct {
	IDs          []int64
	Types        []string
	Subjects     []string
	Features     []string // names of toggles
	Projects     []string
	Environments []string
	Users        []int64   // who made the change
	Names        []string  // of who made the change and is no user
	Tokens       []string  // that was used for the change
	First        int64     // the lowest id; 0: no limit
	From         time.Time // inclusive; zero: no limit
	Until        time.Time // exclusive; zero: no limit
	// Text is a part of the type, the subject, the name of the actor, the reason or a value in data or preData, in any
	// letter case.
	Text string
	// Named are the users whose names contain Text, because events do not contain names of users.
	Named []int64
	// Visible reports whether an event is selected if all other properties select it. nil: yes.
	Visible func(Event) bool `json:"-"`

	before int64 // exceeds the highest id; 0: no limit
}

// Page is a part of the events that a search selects.
type Page struct {
	Events []Event
	// Total is the number of all selected events when the first page was read. If TotalExact is false, there are more.
	Total      int
	TotalExact bool
	Next       *Cursor   // nil: there are no further events
	SearchedTo time.Time // how far back a search has read that took too long; otherwise zero
}

// Cursor is a position between two pages. New events do not change what follows it.
type Cursor struct {
	Before     int64 `json:"before"` // the following events have lower ids
	Skip       int   `json:"skip"`   // how many of them are not in the next page
	Total      int   `json:"total"`  // of the first page
	TotalExact bool  `json:"totalExact"`
}

// Search returns the page of at most limit selected events that follows a cursor, newest first. The zero Cursor is
// before the newest event. A search that has not found enough when the context ends returns the events that it has
// found, and Page.Next continues it. It is an error only if the search could not begin. The read is consistent, except
// with Subjects and Features, which use an index.
func (r *Reader) Search(ctx context.Context, f Filter, after Cursor, limit int) (Page, error) {
	f.before = after.Before
	sources := r.sources(f, limit+1)
	page, skip, found := Page{}, after.Skip, 0
	var stopped error
	for e, err := range walk(ctx, sources) {
		if stopped = err; err != nil {
			break
		}
		if found++; found <= skip {
			continue
		}
		if len(page.Events) == limit { // there is one more
			page.Next = &Cursor{Before: page.Events[limit-1].ID}
			break
		}
		page.Events = append(page.Events, e)
	}
	if stopped != nil {
		reached, began := frontier(sources)
		if ctx.Err() == nil || !began {
			return Page{}, stopped
		}
		page.Next, page.SearchedTo = &Cursor{Before: reached, Skip: max(0, skip-found)}, TimeOf(reached)
	}
	if after.Before != 0 {
		page.Total, page.TotalExact = after.Total, after.TotalExact
	} else {
		var err error
		if page.Total, page.TotalExact, err = r.count(ctx, f, sources, found, page.Next != nil); err != nil {
			return Page{}, err
		}
	}
	if page.Next != nil {
		page.Next.Total, page.Next.TotalExact = page.Total, page.TotalExact
	}
	return page, nil
}

// Newest returns at most limit of the selected events, newest first, without a limit of time.
func (r *Reader) Newest(ctx context.Context, f Filter, limit int) (all []Event, err error) {
	for e, err := range walk(ctx, r.sources(f, limit)) {
		if err != nil {
			return nil, err
		}
		if all = append(all, e); len(all) == limit {
			break
		}
	}
	return all, nil
}

// concurrentCreations is more than the number of resources that are created at the same time, so that the order of their
// events can differ from that of their ids.
const concurrentCreations = 50

// HighestID returns the highest id in the subjects of the newest events of some types, which record creations, or 0.
func (r *Reader) HighestID(ctx context.Context, some ...Type) (highest int64, err error) {
	newest, err := r.Newest(ctx, Filter{Types: texts(some)}, concurrentCreations)
	if err != nil {
		return 0, err
	}
	for _, e := range newest {
		id, err := e.SubjectID()
		if err != nil {
			return 0, err
		}
		highest = max(highest, id)
	}
	return highest, nil
}

// All returns the selected events, oldest first, without a limit of time.
func (r *Reader) All(ctx context.Context, f Filter, yield func(Event) error) error {
	sources := r.sources(f, maxRead)
	for _, s := range sources {
		s.reverse()
	}
	for e, err := range walk(ctx, sources) {
		if err == nil {
			err = yield(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sources returns the queries that together find the events that a filter selects. want is the number of events that
// the caller needs.
func (r *Reader) sources(f Filter, want int) []*source {
	all := r.queries(f)
	share := want / max(1, len(all))
	for _, s := range all {
		s.limit = min(want, share+share/2+4) // the events of all partitions are rarely distributed evenly
	}
	return all
}

func (r *Reader) queries(f Filter) []*source {
	first, last := max(f.First, 1), int64(1)<<53
	if !f.From.IsZero() {
		first = max(first, FirstID(f.From))
	}
	if !f.Until.IsZero() {
		last = FirstID(f.Until) - 1
	}
	if f.before != 0 {
		last = min(last, f.before-1)
	}
	if len(f.IDs) > 0 {
		var all []*source
		for _, id := range slices.Compact(slices.Sorted(slices.Values(f.IDs))) {
			all = append(all, r.source(f, AttributeShard, Partition(id), max(id, first), min(id, last)))
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
		s := r.source(f, AttributeSubject, subject, first, last)
		s.input.IndexName, s.input.ConsistentRead = aws.String(indexSubjects), nil
		all = append(all, s)
	}
	if all != nil {
		return all
	}
	for shard := range int64(Shards) {
		all = append(all, r.source(f, AttributeShard, Partition(shard), first, last))
	}
	return all
}

// source returns the query of the events under a partition key, with ids from first to last.
func (r *Reader) source(f Filter, hash, value string, first, last int64) *source {
	ids := expression.Key(AttributeID).Between(expression.Value(first), expression.Value(max(first, last)))
	ofKey := expression.Key(hash).Equal(expression.Value(value)).And(ids)
	expr := dynamo.Build(expression.NewBuilder().WithKeyCondition(ofKey).WithFilter(f.condition(hash)))
	return &source{
		reader:  r,
		filter:  f,
		reached: last + 1,
		done:    last < first, // nothing: until is before from
		input: &dynamodb.QueryInput{
			TableName:                 &r.table,
			ConsistentRead:            aws.Bool(true),
			ScanIndexForward:          aws.Bool(false),
			KeyConditionExpression:    expr.KeyCondition(),
			FilterExpression:          expr.Filter(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		},
	}
}

// condition returns the condition that a filter selects an item that a query by the attribute hash has found. Items
// without a type are no events.
func (f Filter) condition(hash string) expression.ConditionBuilder {
	condition := expression.Name(AttributeType).AttributeExists()
	for _, c := range []struct {
		attribute string
		values    []expression.OperandBuilder
	}{
		{AttributeType, operands(f.Types)},
		{AttributeProject, operands(f.Projects)},
		{AttributeEnvironment, operands(f.Environments)},
		{AttributeCreatedByTokenID, operands(f.Tokens)},
		{AttributeCreatedByUserID, operands(f.Users)},
		{AttributeFeatureName, operands(f.Features)},
		{AttributeCreatedBy, operands(f.Names)},
		{AttributeSubject, operands(f.Subjects)},
	} {
		if len(c.values) > 0 && c.attribute != hash { // a filter must not name a key
			condition = condition.And(expression.Name(c.attribute).In(c.values[0], c.values[1:]...))
		}
	}
	return condition
}

func operands[T any](values []T) []expression.OperandBuilder {
	all := make([]expression.OperandBuilder, len(values))
	for i, v := range values {
		all[i] = expression.Value(v)
	}
	return all
}

// selects reports whether a filter selects an event whose item meets the condition.
func (f Filter) selects(e Event) bool { return f.contains(e) && (f.Visible == nil || f.Visible(e)) }

// contains reports whether the text of a filter occurs in the type, the subject, the actor's name, the reason or a value
// of the data, in any letter case.
func (f Filter) contains(e Event) bool {
	text := f.Text
	if text == "" || slices.Contains(f.Named, e.By.UserID) || isAbout(e.Subject, f.Named) {
		return true
	}
	for _, s := range []string{string(e.Type), string(e.Subject), e.By.Name, e.Reason} {
		if spelling.Contains(s, text) {
			return true
		}
	}
	return valueContains(e.Data, text) || valueContains(e.PreData, text)
}

// isAbout reports whether a subject is one of some people.
func isAbout(s Subject, people []int64) bool {
	id, ok := s.Person()
	return ok && slices.Contains(people, id)
}

// valueContains reports whether a text occurs in a value of a JSON object, but not in a name.
func valueContains(data json.RawMessage, text string) bool {
	properties, err := Properties(data)
	return err == nil && anyContains(properties, text)
}

func anyContains(v any, text string) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if anyContains(value, text) {
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

func texts[T ~string](values []T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}
