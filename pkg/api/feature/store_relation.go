package feature

import (
	"context"
	"maps"
	"slices"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// relation is the use of resources of a kind by toggles. The transaction of a write changes the counts of package
// references, and fails if a resource that a toggle uses does not exist.
type relation struct {
	kind    string // of the resources, in the names of actions
	store   references.Store
	used    func(toggle.Feature) []string // the resources that a toggle uses, without duplicates
	missing func(resource string) error   // the error if a resource does not exist

	// written returns the resources that must exist without being used; nil: none.
	written func(*edit) []string
	// constrained returns the resources whose references get a new version; nil: none.
	constrained func(*transaction) []string
}

// relations returns the relations between toggles and other resources.
func (s *Store) relations() []relation {
	return []relation{
		{
			kind:        "context field",
			store:       s.fieldReferences,
			used:        toggle.Feature.UsedContextFields,
			constrained: (*transaction).constrained,
			missing: func(field string) error {
				return apierror.Errorf(apierror.Conflict,
					"The toggle uses the context field %q, which does not exist. Create the field first.", apierror.Echo(field))
			},
		},
		{
			kind:        "segment",
			store:       s.segmentReferences,
			used:        usedSegments,
			constrained: (*transaction).newlyUsedSegments,
			missing: func(segment string) error {
				return apierror.Errorf(apierror.Conflict, "The toggle uses the segment %s, which does not exist.", segment)
			},
		},
		{
			kind:    "environment",
			store:   s.environmentReferences,
			used:    usedEnvironments,
			written: (*edit).writtenEnvironments,
			missing: environment.NotFound,
		},
	}
}

// usedSegments returns the segments that a toggle uses, also if it is archived.
func usedSegments(f toggle.Feature) []string {
	var ids []string
	for _, id := range f.Segments() {
		ids = append(ids, segmenttable.Name(id))
	}
	return ids
}

// newlyUsedSegments returns the segments that strategies begin to use in an environment.
func (t *transaction) newlyUsedSegments() []string {
	var ids []int64
	for _, e := range t.edits {
		for name := range e.next.Environments {
			used := segmentsIn(e.old, name)
			for _, id := range segmentsIn(e.next, name) {
				if !slices.Contains(used, id) {
					ids = append(ids, id)
				}
			}
		}
	}
	slices.Sort(ids)
	var names []string
	for _, id := range slices.Compact(ids) {
		names = append(names, segmenttable.Name(id))
	}
	return names
}

// usedEnvironments returns the environments in which a toggle is on, unless it is archived.
func usedEnvironments(f toggle.Feature) []string {
	if f.Archived {
		return nil
	}
	return f.EnabledEnvironments()
}

// writtenEnvironments returns the environments to whose state an edit adds something. Turning a toggle off and removing
// strategies need no environment.
func (e *edit) writtenEnvironments() []string {
	if e.old.Name == "" { // the event of a creation names no environment
		return slices.Collect(maps.Keys(e.next.Environments))
	}
	var names []string
	for _, c := range e.changes {
		removes := c.Type == eventlog.FeatureEnvironmentDisabled || c.Type == eventlog.FeatureStrategyRemove
		if c.Environment != "" && !removes {
			names = append(names, c.Environment)
		}
	}
	return names
}

// changes returns the changes of the references that a transaction makes, by resource.
func (r relation) changes(t *transaction) map[string]references.Counts {
	all := map[string]references.Counts{}
	count := func(f toggle.Feature, n int64) {
		for _, resource := range r.used(f) {
			u := all[resource]
			if f.Archived {
				u.Archived += n
			} else {
				if u.ByProject == nil {
					u.ByProject = references.ByProject{}
				}
				u.ByProject[f.Project] += n
			}
			all[resource] = u
		}
	}
	for _, e := range t.edits {
		count(e.old, -1)
		count(e.next, +1)
	}
	if r.constrained != nil {
		for _, resource := range r.constrained(t) {
			u := all[resource]
			u.Version = 1
			all[resource] = u
		}
	}
	maps.DeleteFunc(all, func(_ string, u references.Counts) bool {
		maps.DeleteFunc(u.ByProject, func(_ string, n int64) bool { return n == 0 })
		return len(u.ByProject) == 0 && u.Archived == 0 && u.Version == 0
	})
	return all
}

// exist returns the resources that must exist, whose references do not change, sorted.
func (r relation) exist(t *transaction, changes map[string]references.Counts) []string {
	if r.written == nil {
		return nil
	}
	var names []string
	for _, e := range t.edits {
		for _, name := range r.written(e) {
			if _, changed := changes[name]; !changed {
				names = append(names, name)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// size returns the number of actions of the relation.
func (r relation) size(t *transaction) int {
	changes := r.changes(t)
	return len(changes) + len(r.exist(t, changes))
}

// addTo adds the actions of the relation to a transaction. It reads the references that become fewer.
func (r relation) addTo(ctx context.Context, t *transaction) error {
	changes := r.changes(t)
	stored := map[string]references.Counts{}
	if less := decreasing(changes); len(less) > 0 {
		var err error
		if stored, err = r.store.Read(ctx, less); err != nil {
			return err
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(changes)) {
		t.actions.Add(r.action(t, resource), r.store.Change(resource, changes[resource], stored[resource]))
	}
	for _, resource := range r.exist(t, changes) {
		t.actions.Add(r.action(t, resource), r.store.Exists(resource))
	}
	return nil
}

// action returns the name of the action on a resource, and stores the error if the resource does not exist.
func (r relation) action(t *transaction, resource string) string {
	name := "references to the " + r.kind + " " + resource
	t.missing[name] = r.missing(resource)
	return name
}

// decreasing returns the resources of which a count becomes less, sorted.
func decreasing(changes map[string]references.Counts) []string {
	var names []string
	for resource, u := range changes {
		for _, n := range u.ByProject {
			if n < 0 {
				names = append(names, resource)
				break
			}
		}
	}
	slices.Sort(names)
	return names
}
