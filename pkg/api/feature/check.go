package feature

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/toggle"
)

// CountReferences counts the references to each context field that active toggles use, which the transactions of the
// Store keep up to date. contextfield.Store.Check compares both.
func (s *Store) CountReferences(ctx context.Context) (map[string]references.Counts, error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	counted := map[string]references.Counts{}
	for _, f := range all {
		if f.Archived {
			continue
		}
		for _, field := range f.ContextFields {
			if counted[field].ByProject == nil {
				counted[field] = references.Counts{ByProject: references.ByProject{}}
			}
			counted[field].ByProject[f.Project]++
		}
	}
	return counted, nil
}

// CheckDependencies compares the children of toggles with the dependencies on them. It is a consistency.Check.
func (s *Store) CheckDependencies(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	all, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	exists, children := map[string]bool{}, map[string][]string{}
	n := 0
	for _, f := range all {
		exists[f.Name] = true
		if f.Dependency != nil {
			n++
			children[f.Dependency.Feature] = append(children[f.Dependency.Feature], f.Name)
		}
	}
	for _, f := range all { // which are ordered by name
		depend := children[f.Name]
		if !slices.Equal(f.Children, depend) {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the toggle %q has other children than the %d toggles that depend on it", f.Name, len(depend)),
				Repair: func(ctx context.Context) error { return s.repairChildren(ctx, f.Name, depend) },
			})
		}
		if f.Dependency != nil && !exists[f.Dependency.Feature] {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the toggle %q depends on the toggle %q, which does not exist", f.Name, f.Dependency.Feature),
				Repair: func(ctx context.Context) error { return s.endDependency(ctx, f.Name, f.Dependency.Feature) },
			})
		}
	}
	return fmt.Sprintf("%d, consistent with the children of toggles", n), found, nil
}

// endDependency ends the dependency of a toggle on a parent that does not exist.
func (s *Store) endDependency(ctx context.Context, child, parent string) error {
	_, err := s.Update(ctx, child, func(f toggle.Feature) (toggle.Feature, error) {
		if f.Dependency != nil && f.Dependency.Feature == parent {
			f.Dependency = nil
		}
		return f, nil
	})
	return apierror.IgnoreNotFound(err)
}

// CheckStates returns a check that looks for toggles with a state in an environment that does not exist. Creating the
// environment, which restore returns, keeps the state, and deleting it again removes the state. An environment whose
// deletion has not ended is none of them.
func (s *Store) CheckStates(restore func(environment string) func(context.Context) error) consistency.Check {
	return func(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
		known := map[string]bool{}
		all, err := s.List(ctx) // before the environments: a state is removed before its environment
		if err != nil {
			return "", nil, err
		}
		environments, err := s.environments.List(ctx)
		if err != nil {
			return "", nil, err
		}
		deletions, err := s.environments.Unfinished(ctx)
		if err != nil {
			return "", nil, err
		}
		for _, e := range environments {
			known[e.Name] = true
		}
		for _, d := range deletions {
			known[d.Name] = true
		}
		toggles := map[string]int{} // by environment
		for _, f := range all {
			for name := range f.Environments {
				if !known[name] {
					toggles[name]++
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(toggles)) {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("%d toggles have strategies in the environment %q, which does not exist", toggles[name], name),
				Repair: restore(name),
			})
		}
		return fmt.Sprintf("of %d toggles, in environments that exist", len(all)), found, nil
	}
}
