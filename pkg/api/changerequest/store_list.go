package changerequest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

// Filter selects requests. The zero value selects all.
type Filter struct {
	States    []State // empty: all
	createdBy int64   // 0: anybody
	reviewer  int64   // who was asked for an approval; 0: anybody

	actionable bool               // only those that wait for the caller
	waits      func(Request) bool // whether a request does; nil: it does not matter

	onlyPage bool // the number of all that are selected is not needed
}

func (f Filter) selects(r Request) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, r.State)) &&
		(f.createdBy == 0 || f.createdBy == r.CreatedBy.ID) &&
		(f.reviewer == 0 || slices.Contains(r.Reviewers, f.reviewer)) &&
		(f.waits == nil || f.waits(r))
}

// byState reports whether the filter concerns the state alone, so that the numbers of projects have the total.
func (f Filter) byState() bool { return f.createdBy == 0 && f.reviewer == 0 && f.waits == nil }

// onlyOpen reports whether the filter selects no closed request, which waits for nobody.
func (f Filter) onlyOpen() bool {
	return f.waits != nil || len(f.States) > 0 && !slices.ContainsFunc(f.States, State.IsFinal)
}

// Find returns the summaries of the selected requests of projects, newest first, from offset, at most limit, and the
// number of all that are selected. It reads the index of each project, or that of the author, only as far as the page
// needs, unless it counts all that a filter selects which concerns more than the state.
func (s *Store) Find(ctx context.Context, projects []string, f Filter, offset, limit int) (
	page []Request, total int64, err error,
) {
	counted, err := s.numbers(ctx, projects)
	if err != nil {
		return nil, 0, err
	}
	var found []Request
	if f.createdBy != 0 && !f.onlyOpen() {
		if found, err = s.findBy(ctx, counted, f, offset+limit); err != nil {
			return nil, 0, err
		}
		total = int64(len(found))
	} else {
		for _, n := range counted {
			some, matching, err := s.findIn(ctx, n, f, offset+limit)
			if err != nil {
				return nil, 0, err
			}
			found = append(found, some...)
			total += matching
		}
	}
	slices.SortFunc(found, newestFirst)
	found = found[min(offset, len(found)):]
	found = found[:min(limit, len(found))]
	if f.onlyOpen() {
		return found, total, nil
	}
	ids := make([]int64, len(found))
	for i, r := range found {
		ids[i] = r.ID
	}
	page, err = s.summaries(ctx, ids)
	return slices.DeleteFunc(page, func(r Request) bool { return !f.selects(r) }), total, err // changed since then
}

func newestFirst(a, b Request) int { return cmp.Compare(b.ID, a.ID) }

// findBy is Find for an author in the projects whose numbers were read. The requests have the properties of an index.
func (s *Store) findBy(ctx context.Context, counted map[string]numbers, f Filter, limit int) (
	found []Request, err error,
) {
	author := expression.Key(attributeAuthor).Equal(expression.Value(f.createdBy))
	err = s.walk(ctx, indexAuthors, author, limit, func(r Request) bool {
		if _, searched := counted[r.Project]; searched && f.selects(r) {
			found = append(found, r)
		}
		return len(found) < limit || !f.onlyPage
	})
	return found, err
}

// findIn is Find for one project, whose numbers were read, from the newest, at most limit. Closed requests have the
// properties of an index.
func (s *Store) findIn(ctx context.Context, n numbers, f Filter, limit int) (
	found []Request, total int64, err error,
) {
	for state, number := range n.byState {
		if len(f.States) == 0 || slices.Contains(f.States, state) {
			total += number
		}
	}
	if total == 0 {
		return nil, 0, nil
	}
	visit := func(r Request) bool {
		if f.selects(r) {
			found = append(found, r)
		}
		return len(found) < limit || !f.byState() && !f.onlyPage
	}
	if f.onlyOpen() {
		open, err := s.openOf(ctx, n)
		if err != nil {
			return nil, 0, err
		}
		for _, r := range open {
			visit(r)
		}
	} else if err := s.walk(ctx, indexProjects, expression.Key(attributeProject).Equal(expression.Value(n.project)), limit,
		visit); err != nil {
		return nil, 0, err
	}
	if !f.byState() {
		total = int64(len(found))
	}
	return found[:min(limit, len(found))], total, nil
}

// open returns the summaries of the requests of a project that are not closed, newest first.
func (s *Store) open(ctx context.Context, project string) ([]Request, error) {
	all, err := s.numbers(ctx, []string{project})
	if err != nil {
		return nil, err
	}
	return s.openOf(ctx, all[project])
}

// openOf is open for a project whose numbers were read.
func (s *Store) openOf(ctx context.Context, n numbers) ([]Request, error) {
	all, err := s.summaries(ctx, n.open)
	return slices.DeleteFunc(all, func(r Request) bool { return r.State.IsFinal() }), err // closed since then
}

// summaries returns the summaries of those of some requests that exist, newest first.
func (s *Store) summaries(ctx context.Context, ids []int64) ([]Request, error) {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys, attributeSummary)
	if err != nil {
		return nil, fmt.Errorf("list change requests: %w", err)
	}
	all := make([]Request, len(items))
	for i, item := range items {
		if all[i], err = fromItem(item.Map(attributeSummary)); err != nil {
			return nil, fmt.Errorf("list change requests: %w", err)
		}
	}
	slices.SortFunc(all, newestFirst)
	return all, nil
}

// firstPage is the least number of requests that walk reads at once.
const firstPage = 100

// walk calls visit with the requests of a partition of an index, newest first, until it returns false. They have the
// properties that Filter.selects needs, except those of open requests. It is likely to end after n of them. The index can
// lack the changes of the last seconds.
func (s *Store) walk(
	ctx context.Context, index string, partition expression.KeyConditionBuilder, n int, visit func(Request) bool,
) error {
	expr := dynamo.Build(expression.NewBuilder().WithKeyCondition(partition))
	backwards, limit := false, new(int32(max(n, firstPage))) //nolint:gosec // n is at most maxOffset and maxLimit together
	var start map[string]types.AttributeValue
	for {
		page, err := s.client.Query(ctx, &dynamodb.QueryInput{
			TableName:                 &s.table,
			IndexName:                 &index,
			KeyConditionExpression:    expr.KeyCondition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
			ScanIndexForward:          &backwards,
			ExclusiveStartKey:         start,
			Limit:                     limit,
		})
		if err != nil {
			return fmt.Errorf("list change requests: %w", err)
		}
		for _, item := range page.Items {
			r, err := indexed(item)
			if err != nil || !visit(r) {
				return err
			}
		}
		if start, limit = page.LastEvaluatedKey, nil; start == nil {
			return nil
		}
	}
}

// indexRecord is what an index contains of a request.
type indexRecord struct {
	ID        int64   `dynamodbav:"id"`
	Project   string  `dynamodbav:"project"`
	State     State   `dynamodbav:"state"`
	Author    int64   `dynamodbav:"author"`
	Reviewers []int64 `dynamodbav:"reviewers"`
}

// indexed returns a request with what an index contains of it.
func indexed(item dynamo.Item) (Request, error) {
	var stored indexRecord
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return Request{}, fmt.Errorf("list change requests: %w", err)
	}
	return Request{
		ID: stored.ID, Project: stored.Project, State: stored.State, CreatedBy: Person{ID: stored.Author},
		Reviewers: stored.Reviewers,
	}, nil
}

// isRequest reports whether an item of the table is a request.
func isRequest(item dynamo.Item) bool {
	return item.Int(attributeID) > 0 && !strings.HasPrefix(item.String(hash), projectPrefix)
}

// List returns all requests, ordered by id.
func (s *Store) List(ctx context.Context) ([]Request, error) {
	var all []Request
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err == nil && isRequest(item) {
			var r Request
			r, err = fromItem(item)
			all = append(all, r)
		}
		if err != nil {
			return nil, fmt.Errorf("list change requests: %w", err)
		}
	}
	slices.SortFunc(all, func(a, b Request) int { return int(a.ID - b.ID) })
	return all, nil
}
