package feature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// OneOf selects values. Without values it selects all.
type OneOf struct {
	Values []string
	Not    bool // selects all other values
}

func (o OneOf) selects(value string) bool {
	return o.Values == nil || slices.Contains(o.Values, value) != o.Not
}

// Filter selects toggles.
type Filter struct {
	Text                 Text
	Project, Type, State OneOf
	From, Before         time.Time // of the creation: inclusive, exclusive; zero: no limit
	Archived             bool      // selects those that are archived; otherwise the others
	ContextField         string    // that they use; empty: all
}

func (f Filter) selects(t toggle.Feature) bool {
	return t.Archived == f.Archived && f.Project.selects(t.Project) && f.Type.selects(t.Type) &&
		f.selectsState(t.State()) &&
		!t.CreatedAt.Before(f.From) && (f.Before.IsZero() || t.CreatedAt.Before(f.Before)) &&
		(f.ContextField == "" || slices.Contains(t.ContextFields, f.ContextField)) &&
		f.Text.Matches(t)
}

func (f Filter) selectsState(state toggle.State) bool { return f.State.selects(string(state)) }

// onlyFlagged reports whether all selected toggles are in the part of the staleness index with the flag.
func (f Filter) onlyFlagged() bool {
	return f.selectsState(toggle.StatePotentiallyStale) && !f.selectsState(toggle.StateActive) &&
		!f.selectsState(toggle.StateStale)
}

// Order is the order of a search, and the part of it that is returned: without the first Offset toggles, at most Limit.
type Order struct {
	By            string // one of SortKeys
	Text          Text   // of the search, for the order by relevance
	Descending    bool
	Offset, Limit int
}

// Types contains feature types by id.
type Types map[string]toggle.Type

// PotentiallyStaleAt returns when the lifetime of a toggle's type ends or ended, or nil; see
// toggle.Feature.PotentiallyStaleAt.
func (t Types) PotentiallyStaleAt(f toggle.Feature) *time.Time {
	return f.PotentiallyStaleAt(t[f.Type].LifetimeDays)
}

// Types reads all feature types.
func (s *Store) Types(ctx context.Context) (Types, error) {
	list, err := s.types.List(ctx)
	all := Types{}
	for _, t := range list {
		all[t.ID] = t
	}
	return all, err
}

// SortKeys returns what toggles can be sorted by.
func SortKeys() []string {
	return []string{"createdAt", "name", "type", "project", "stale", "potentiallyStaleAt", "relevance"}
}

// sort sorts toggles. Those with the same key are ordered by name, and those without a key are last.
func (o Order) sort(all []toggle.Feature, known Types) {
	staleAt := func(f toggle.Feature) time.Time {
		if at := known.PotentiallyStaleAt(f); at != nil {
			return *at
		}
		if o.Descending {
			return time.Time{}
		}
		return time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	relevance := map[string]int{}
	if o.By == "relevance" {
		for _, f := range all {
			relevance[f.Name] = o.Text.relevance(f.Name)
		}
	}
	compare := map[string]func(a, b toggle.Feature) int{
		"createdAt": func(a, b toggle.Feature) int { return a.CreatedAt.Compare(b.CreatedAt) },
		"name":      byName,
		"type":      func(a, b toggle.Feature) int { return cmp.Compare(a.Type, b.Type) },
		"project":   func(a, b toggle.Feature) int { return cmp.Compare(a.Project, b.Project) },
		"stale": func(a, b toggle.Feature) int {
			return cmp.Compare(strconv.FormatBool(a.Stale), strconv.FormatBool(b.Stale)) // false, then true
		},
		"potentiallyStaleAt": func(a, b toggle.Feature) int { return staleAt(a).Compare(staleAt(b)) },
		"relevance":          func(a, b toggle.Feature) int { return cmp.Compare(relevance[a.Name], relevance[b.Name]) },
	}[o.By]
	slices.SortFunc(all, func(a, b toggle.Feature) int {
		order := compare(a, b)
		if o.Descending {
			order = -order
		}
		return cmp.Or(order, byName(a, b))
	})
}

func byName(a, b toggle.Feature) int { return cmp.Compare(a.Name, b.Name) }

// page returns the toggles of the page.
func (o Order) page(all []toggle.Feature) []toggle.Feature {
	first := min(o.Offset, len(all))
	return all[first:min(first+o.Limit, len(all))]
}

// Search returns a page of the selected toggles, and the number of all selected ones. It reads the whole table,
// consistently, or, if only toggles that are potentially stale are selected, the part of the staleness index that
// contains them, which is eventually consistent, and then the toggles of the page.
func (s *Store) Search(
	ctx context.Context, f Filter, o Order, known Types,
) (page []toggle.Feature, total int, err error) {
	if f.onlyFlagged() {
		return s.searchFlagged(ctx, f, o, known)
	}
	all, err := s.scan(ctx, f.selects)
	if err != nil {
		return nil, 0, err
	}
	o.sort(all, known)
	return o.page(all), len(all), nil
}

// searchFlagged is Search in the staleness index, which has the name, the project, the type and the time of creation.
func (s *Store) searchFlagged(ctx context.Context, f Filter, o Order, known Types) (page []toggle.Feature, total int,
	err error) {
	indexed := f
	indexed.Text, indexed.ContextField = Text{}, ""
	all, err := s.flagged(ctx, known, indexed.selects)
	if err != nil {
		return nil, 0, err
	}
	whole := !f.Text.IsEmpty() || f.ContextField != "" // these need the items
	if whole {
		if all, err = s.existing(ctx, all, f.selects); err != nil {
			return nil, 0, err
		}
	}
	o.sort(all, known)
	if page = o.page(all); whole {
		return page, len(all), nil
	}
	current, err := s.existing(ctx, page, f.selects)
	o.sort(current, known)
	return current, len(all) - len(page) + len(current), err
}

// existing reads toggles again, and returns those that are still selected.
func (s *Store) existing(
	ctx context.Context, all []toggle.Feature, selects func(toggle.Feature) bool,
) ([]toggle.Feature, error) {
	batches := slices.Collect(slices.Chunk(all, maxRead))
	return parallel(len(batches), func(i int, add func(toggle.Feature)) error {
		names := make([]string, len(batches[i]))
		for j, f := range batches[i] {
			names[j] = f.Name
		}
		found, err := s.named(ctx, names)
		for _, f := range found {
			if selects(f) {
				add(f)
			}
		}
		return err
	})
}

// flagged reads the selected toggles that are potentially stale from the staleness index.
func (s *Store) flagged(
	ctx context.Context, known Types, selects func(toggle.Feature) bool,
) ([]toggle.Feature, error) {
	ids := slices.Collect(maps.Keys(known))
	all, err := parallel(len(ids)*Shards, func(i int, add func(toggle.Feature)) error {
		id := ids[i/Shards]
		for input := s.inIndex(StalenessKey(id, true, i%Shards)); ; {
			out, err := s.client.Query(ctx, input)
			if err != nil {
				return fmt.Errorf("read toggles of the type %q that are potentially stale: %w", id, err)
			}
			for _, item := range out.Items {
				f := fromItem(item)
				f.Type, f.PotentiallyStale = id, true
				if selects(f) {
					add(f)
				}
			}
			if input.ExclusiveStartKey = out.LastEvaluatedKey; out.LastEvaluatedKey == nil {
				return nil
			}
		}
	})
	return newest(all), err
}

// newest returns each toggle once, as it is after its last event. A toggle whose type changes between two reads of the
// index is found with both types.
func newest(all []toggle.Feature) []toggle.Feature {
	slices.SortFunc(all, func(a, b toggle.Feature) int {
		return cmp.Or(byName(a, b), cmp.Compare(b.LastEvent, a.LastEvent))
	})
	return slices.CompactFunc(all, func(a, b toggle.Feature) bool { return a.Name == b.Name })
}

const (
	// segments is the number of parts in which the table is read at the same time.
	segments = 4
	// maxReads is the maximum number of concurrent reads of a search.
	maxReads = 16
	// maxRead is the number of toggles that a read of a search reads by name.
	maxRead = 100
)

// scan reads the selected toggles of the table, consistently. If attributes are named, the toggles have only these.
func (s *Store) scan(
	ctx context.Context, selects func(toggle.Feature) bool, attributes ...string,
) ([]toggle.Feature, error) {
	return parallel(segments, func(i int, add func(toggle.Feature)) error {
		segment := int32(i) //nolint:gosec // below segments
		for item, err := range dynamo.ScanSegment(ctx, s.client, s.features, segment, segments, attributes...) {
			if err != nil {
				return fmt.Errorf("list toggles: %w", err)
			}
			if f := fromItem(item); selects(f) {
				add(f)
			}
		}
		return nil
	})
}

// parallel calls read with the numbers from 0 to n-1, and returns what the calls add, in any order.
func parallel(n int, read func(i int, add func(toggle.Feature)) error) ([]toggle.Feature, error) {
	parts, errs := make([][]toggle.Feature, n), make([]error, n)
	running := make(chan struct{}, maxReads)
	var all sync.WaitGroup
	for i := range n {
		running <- struct{}{}
		all.Go(func() {
			defer func() { <-running }()
			errs[i] = read(i, func(f toggle.Feature) { parts[i] = append(parts[i], f) })
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return slices.Concat(parts...), nil
}
