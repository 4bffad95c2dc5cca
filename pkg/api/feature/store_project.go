package feature

import (
	"maps"
	"slices"

	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// actionProject returns the name of the condition on a project.
func actionProject(id string) string { return "project " + id }

// projectConditions returns the conditions on the projects of toggles, by id: one in which a toggle is created, revived or
// moved to is active, one in which a toggle is turned on has the environment, and one whose protection permits an effect
// has not changed.
func (t *transaction) projectConditions() map[string]accesstable.Condition {
	all := map[string]accesstable.Condition{}
	for place := range t.changed() {
		all[place.Project] = accesstable.Condition{LastEvent: new(t.decision.Projects[place.Project])}
	}
	for _, e := range t.edits {
		if e.next.Name == "" {
			continue
		}
		c := all[e.next.Project]
		c.Active = c.Active || e.old.Name == "" || e.old.Project != e.next.Project || e.old.Archived && !e.next.Archived
		c.Environments = append(c.Environments, e.turnedOn()...)
		if c.Active || len(c.Environments) > 0 {
			c.Environments = slices.Compact(slices.Sorted(slices.Values(c.Environments)))
			all[e.next.Project] = c
		}
	}
	return all
}

// addProjects adds the conditions on projects.
func (t *transaction) addProjects() {
	t.projects = t.projectConditions()
	for _, id := range slices.Sorted(maps.Keys(t.projects)) {
		t.actions.Add(actionProject(id), t.projects[id].Actions(t.store.access, id, t.store.log.Now())...)
	}
}

// turnedOn returns the environments in which an edit turns the toggle on, or in which the toggle is on when it comes into
// a project.
func (e *edit) turnedOn() (names []string) {
	for _, name := range usedEnvironments(e.next) {
		if e.old.Project != e.next.Project || !slices.Contains(usedEnvironments(e.old), name) {
			names = append(names, name)
		}
	}
	return names
}

// unmetProject returns the error if a transaction failed because of a project, or nil if the project has changed again.
func (t *transaction) unmetProject(failures []dynamo.Failure) error {
	failed := t.actions.Failed(failures)
	for _, id := range slices.Sorted(maps.Keys(t.projects)) {
		f, ok := failed[actionProject(id)]
		if !ok {
			continue
		}
		if err := t.projects[id].Unmet(f, id, t.store.log.Now()); err != nil {
			return err
		}
	}
	return nil
}
