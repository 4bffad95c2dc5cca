package feature

import (
	"context"
	"maps"
	"slices"

	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/eventlog"
)

// actionUnchanged returns the name of the condition that an environment is protected as it was.
func actionUnchanged(environment string) string {
	return "protection of the environment " + environment
}

// changed returns the places that the transaction changes, and whether each change there only turns toggles off.
func (t *transaction) changed() map[protection.Place]bool {
	all := map[protection.Place]bool{}
	for _, e := range t.edits {
		for _, x := range e.effects {
			for _, place := range x.Places() {
				turnsOff, found := all[place]
				all[place] = x.TurnsOff && (turnsOff || !found)
			}
		}
	}
	return all
}

// guard returns an error unless the caller may make the changes directly. Later changes of the transaction are not
// covered.
func (t *transaction) guard(ctx context.Context) (err error) {
	t.decision, err = t.store.guard.Decide(ctx, t.changed(), t.store.log.Now())
	return err
}

// permittedBy returns how a change of an edit was permitted, for its event.
func (t *transaction) permittedBy(e *edit, c eventlog.Change) (by eventlog.PermittedBy) {
	for _, x := range e.effects {
		if x.State && c.Environment == x.Environment || x.Whole && changesWhole(c.Type) {
			for _, place := range x.Places() {
				also := t.decision.PermittedBy[place]
				by.SkippedChangeRequest = by.SkippedChangeRequest || also.SkippedChangeRequest
				by.TurnedOff = by.TurnedOff || also.TurnedOff
			}
		}
	}
	return by
}

// changesWhole reports whether events of a type are about changes of the whole toggle (protection.Effect).
func changesWhole(t eventlog.Type) bool {
	switch t { //nolint:exhaustive // the others are about one environment, or nothing that applications get
	case eventlog.FeatureCreated, eventlog.FeatureDeleted, eventlog.FeatureArchived, eventlog.FeatureRevived,
		eventlog.FeatureProjectChange, eventlog.FeatureDependencyAdded, eventlog.FeatureDependencyRemoved:
		return true
	}
	return false
}

// guarded returns the environments in which the transaction depends on the protection, sorted.
func (t *transaction) guarded() []string {
	names := map[string]bool{}
	for place := range t.changed() {
		names[place.Environment] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// addProtections adds the conditions that the environments are protected as the decision says. addProjects adds those of
// projects.
func (t *transaction) addProtections() {
	for _, name := range t.guarded() {
		t.actions.Add(actionUnchanged(name), t.store.environments.Unchanged(name, t.decision.Environments[name]))
	}
}
