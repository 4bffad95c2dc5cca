package feature

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/api/usage"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/toggle"
)

// CountUsage counts the usage of each context field that active toggles use, which the transactions of the Store keep
// up to date. contextfield.Store.Check compares both.
func (s *Store) CountUsage(ctx context.Context) (map[string]usage.Usage, error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	counted := map[string]usage.Usage{}
	for _, f := range all {
		if f.Archived {
			continue
		}
		for _, field := range f.ContextFields {
			if counted[field].Counts == nil {
				counted[field] = usage.Usage{Counts: usage.Counts{}}
			}
			counted[field].Counts[f.Project]++
		}
	}
	return counted, nil
}

// CheckRemovedNames looks for toggles with the name of a creator that was removed. A restored table brings the name
// back. It is a consistency.Check.
func (s *Store) CheckRemovedNames(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	all, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	named := oldestWithName(all)
	removals := []eventlog.Type{eventlog.UserNameRemoved}
	err = eventsearch.New(s.log).About(ctx, slices.Sorted(maps.Keys(named)), removals, func(e eventlog.Event) error {
		f, ok := named[e.Subject]
		if !ok || !f.CreatedAt.Before(e.CreatedAt()) { // a person whose name was removed can create further toggles
			return nil
		}
		delete(named, e.Subject) // a name can be removed twice
		id := f.CreatedBy.ID
		found = append(found, consistency.Inconsistency{
			Text:   fmt.Sprintf("toggles have the name of the user %d, which was removed", id),
			Repair: func(ctx context.Context) error { return s.RemoveCreatorName(ctx, id) },
		})
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return "none in toggles", found, nil
}

// oldestWithName returns, for each person whose name toggles have, the oldest of these toggles.
func oldestWithName(all []toggle.Feature) map[eventlog.Subject]toggle.Feature {
	named := map[eventlog.Subject]toggle.Feature{}
	for _, f := range all {
		if f.CreatedBy == nil || f.CreatedBy.ID == 0 {
			continue
		}
		subject := eventlog.PersonSubject(f.CreatedBy.ID)
		oldest, ok := named[subject]
		if f.CreatedBy.Name != string(subject) && (!ok || f.CreatedAt.Before(oldest.CreatedAt)) {
			named[subject] = f
		}
	}
	return named
}
