package changerequest

import (
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
}

func (f Filter) selects(r Request) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, r.State)) &&
		(f.createdBy == 0 || f.createdBy == r.CreatedBy.ID) &&
		(f.reviewer == 0 || slices.Contains(r.Reviewers, f.reviewer)) &&
		(f.waits == nil || f.waits(r))
}

// byState reports whether the filter concerns the state alone, so that the numbers of projects have the total.
func (f Filter) byState() bool { return f.createdBy == 0 && f.reviewer == 0 && f.waits == nil }

// onlyOpen reports whether the filter selects no closed request.
func (f Filter) onlyOpen() bool {
	return len(f.States) > 0 && !slices.ContainsFunc(f.States, State.IsFinal)
}

// Find returns the summaries of the selected requests of projects, newest first, from offset, at most limit, and the
// number of all that are selected. It reads the index of each project only as far as the page needs, unless the filter
// concerns more than the state.
func (s *Store) Find(ctx context.Context, projects []string, f Filter, offset, limit int) (
	page []Request, total int64, err error,
) {
	counted, err := s.numbers(ctx, projects)
	if err != nil {
		return nil, 0, err
	}
	var found []Request
	for _, project := range projects {
		n, used := counted[project]
		if !used {
			continue
		}
		some, matching, err := s.findIn(ctx, project, n, f, offset+limit)
		if err != nil {
			return nil, 0, err
		}
		found = append(found, some...)
		total += matching
	}
	slices.SortFunc(found, func(a, b Request) int { return int(b.ID - a.ID) })
	found = found[min(offset, len(found)):]
	return found[:min(limit, len(found))], total, nil
}

// findIn is Find for one project, whose numbers were read, from the newest, at most limit.
func (s *Store) findIn(ctx context.Context, project string, n numbers, f Filter, limit int) (
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
		return !f.byState() || len(found) < limit
	}
	if f.onlyOpen() {
		open, err := s.summaries(ctx, n.open)
		if err != nil {
			return nil, 0, err
		}
		for _, r := range open {
			visit(r)
		}
	} else if err := s.walk(ctx, project, visit); err != nil {
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
	return s.summaries(ctx, all[project].open)
}

// summaries returns the summaries of those of some requests that are not closed, newest first.
func (s *Store) summaries(ctx context.Context, ids []int64) ([]Request, error) {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys, attributeSummary)
	if err != nil {
		return nil, fmt.Errorf("list open change requests: %w", err)
	}
	var all []Request
	for _, item := range items {
		r, err := fromItem(item.Map(attributeSummary))
		if err != nil {
			return nil, fmt.Errorf("list open change requests: %w", err)
		}
		if !r.State.IsFinal() { // closed since the ids were read
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Request) int { return int(b.ID - a.ID) })
	return all, nil
}

// The numbers of requests that the first and the other pages of walk read.
const (
	firstPage = 100
	nextPages = 1000
)

// walk calls visit with the summaries of all requests of a project, newest first, until it returns false. It reads an
// index, which can lack the changes of the last seconds.
func (s *Store) walk(ctx context.Context, project string, visit func(Request) bool) error {
	expr := dynamo.Build(expression.NewBuilder().
		WithKeyCondition(expression.Key(attributeProject).Equal(expression.Value(project))))
	name, backwards, limit := index, false, int32(firstPage)
	var start map[string]types.AttributeValue
	for {
		page, err := s.client.Query(ctx, &dynamodb.QueryInput{
			TableName:                 &s.table,
			IndexName:                 &name,
			KeyConditionExpression:    expr.KeyCondition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
			ScanIndexForward:          &backwards,
			ExclusiveStartKey:         start,
			Limit:                     &limit,
		})
		if err != nil {
			return fmt.Errorf("list change requests: %w", err)
		}
		for _, item := range page.Items {
			r, err := fromItem(dynamo.Item(item).Map(attributeSummary))
			if err != nil {
				return fmt.Errorf("list change requests: %w", err)
			}
			if !visit(r) {
				return nil
			}
		}
		if start = page.LastEvaluatedKey; start == nil {
			return nil
		}
		limit = nextPages
	}
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
