package changerequest

import (
	"context"
	"slices"
)

// filter selects requests. The zero value selects all.
type filter struct {
	states    []State // empty: all
	createdBy int64   // 0: anybody
	reviewer  int64   // who was asked for an approval; 0: anybody
}

func (f filter) selects(r Request) bool {
	return (len(f.states) == 0 || slices.Contains(f.states, r.State)) &&
		(f.createdBy == 0 || f.createdBy == r.CreatedBy.ID) &&
		(f.reviewer == 0 || slices.Contains(r.Reviewers, f.reviewer))
}

// byState reports whether the filter concerns the state alone, so that the numbers of projects have the total.
func (f filter) byState() bool { return f.createdBy == 0 && f.reviewer == 0 }

// onlyOpen reports whether the filter selects no closed request.
func (f filter) onlyOpen() bool {
	return len(f.states) > 0 && !slices.ContainsFunc(f.states, State.IsFinal)
}

// Find returns the summaries of the selected requests of projects, newest first, from offset, at most limit, and the
// number of all that are selected. It reads the index of each project only as far as the page needs, unless the filter
// concerns more than the state.
func (s *Store) Find(ctx context.Context, projects []string, f filter, offset, limit int) (
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
func (s *Store) findIn(ctx context.Context, project string, n numbers, f filter, limit int) (
	found []Request, total int64, err error,
) {
	for state, number := range n.byState {
		if len(f.states) == 0 || slices.Contains(f.states, state) {
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
