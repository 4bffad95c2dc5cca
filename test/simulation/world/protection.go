package world

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// protectEnvironments protects and freezes environments, and ends it. What teams use is not frozen in all projects.
func (a *actor) protectEnvironments() {
	project, environment := choose(a, "default", "shop"), subject(a, a.environments.names...)
	path := "projects/" + project + "/environments/" + environment
	freeze := freezeOf(a.name)
	switch a.IntN(8) {
	case 0:
		a.do(a.admin, "PUT "+path+"/freeze", freeze)
	case 1:
		a.do(a.admin, "DELETE "+path+"/freeze", nil)
	case 2:
		a.do(a.admin, "PUT environments/staging/freeze", freeze)
	case 3:
		a.do(a.admin, "DELETE environments/staging/freeze", nil)
	default:
		a.do(a.admin, "PUT "+path+"/change-requests/config",
			object{"changeRequestsEnabled": a.IntN(3) > 0, "allowTurningOff": a.IntN(4) > 0})
	}
}

// freezeOf returns a freeze that does not begin or end while the world lives.
func freezeOf(reason string) object {
	return object{
		"from": time.Now().Add(-day).UTC().Format(time.RFC3339), "until": time.Now().Add(day).UTC().Format(time.RFC3339),
		"reason": reason,
	}
}

// environment returns an environment, or the zero value if it does not exist.
func (t teamsAt) environment(name string) storedEnvironment {
	if e := t.environments[name]; !e.Deleted {
		return e
	}
	return storedEnvironment{}
}

// isFrozen reports whether an environment of a project is frozen, in all projects or in this one.
func (t teamsAt) isFrozen(in place) bool {
	return t.environment(in.environment).Freeze != nil || t.projects[in.project].Protections[in.environment].Freeze != nil
}

// needed returns the number of approvals that a change of an environment of a project needs; 0: it needs none.
func (t teamsAt) needed(in place) int64 {
	n := t.environment(in.environment).RequiredApprovals
	if of := t.projects[in.project].Protections[in.environment]; of.ChangeRequests {
		return max(of.RequiredApprovals, n, 1)
	}
	return n
}

// guards reports whether an environment of a project needs approvals or is frozen, and an account may not skip this.
func (t teamsAt) guards(account int64, project string) bool {
	for environment := range t.environments {
		in := place{project, environment}
		if (t.isFrozen(in) || t.needed(in) > 0) && !t.may(account, project, "SKIP_CHANGE_REQUEST", environment) {
			return true
		}
	}
	return false
}

// place is an environment of a project.
type place struct{ project, environment string }

// permission is how an event says that a change was permitted.
type permission struct{ skipped, turnedOff bool }

func permissionOf(event dynamo.Item) permission {
	return permission{event.Bool("skippedChangeRequest"), event.Bool("turnedOff")}
}

// and returns how several changes were permitted together.
func (p permission) and(other permission) permission {
	return permission{p.skipped || other.skipped, p.turnedOff || other.turnedOff}
}

// isOfRequest reports whether events are of a change request that was applied.
func isOfRequest(events []dynamo.Item) bool {
	return slices.ContainsFunc(events, func(e dynamo.Item) bool { return e["changeRequestId"] != nil })
}

// required returns what the events of a change in a place must say: nothing, unless the place is frozen, or needs
// approvals that the change does not have. onlyOff: the change only turns toggles off.
func (w *World) required(in place, onlyOff, approved bool) (by permission) {
	now := w.latest()
	if now.isFrozen(in) || now.needed(in) > 0 && !approved {
		by.turnedOff = onlyOff && !now.projects[in.project].Protections[in.environment].ForbidsTurningOff
		by.skipped = !by.turnedOff
	}
	return by
}

// effect is what a change of a toggle changes of what applications get in an environment.
type effect struct {
	state    bool     // the switch or the strategies
	whole    bool     // whether the toggle is there, or on which other one it depends
	onlyOff  bool     // nothing but the switch, from on to off
	projects []string // of the toggle, before and after it
}

// effectIn returns the effect of a change in an environment. A toggle that does not exist is nil.
func effectIn(before, after *toggle.Feature, environment string) (e effect) {
	was, is, strategies := false, false, [2][]toggle.Strategy{}
	for i, f := range []*toggle.Feature{before, after} {
		if f != nil {
			on := f.Environments[environment].Enabled && !f.Archived
			was, is = was || on && i == 0, is || on && i == 1
			strategies[i] = f.Environments[environment].Strategies
			e.projects = append(e.projects, f.Project)
		}
	}
	e.projects = slices.Compact(e.projects)
	same := len(strategies[0])+len(strategies[1]) == 0 || reflect.DeepEqual(strategies[0], strategies[1])
	both := before != nil && after != nil
	moved := both && (before.Project != after.Project || before.Archived != after.Archived ||
		!reflect.DeepEqual(before.Dependency, after.Dependency))
	e.whole = (was || is) && (!both || moved)
	e.state = both && (!same || was != is && before.Archived == after.Archived)
	e.onlyOff = e.state && !e.whole && same && was
	return e
}

// checkProtected checks that the events of a change of a toggle say how it was permitted, if it changes what applications
// get in an environment that is protected or frozen, and only then.
func (w *World) checkProtected(c change, events []dynamo.Item) {
	before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
	approved := isOfRequest(events)
	shared := permission{} // of the events without an environment
	for _, environment := range w.environments.names {
		effect, want := effectIn(before, after, environment), permission{}
		for _, project := range effect.projects {
			want = want.and(w.required(place{project, environment}, effect.onlyOff, approved))
		}
		if effect.whole {
			shared = shared.and(want)
		}
		for _, e := range events {
			if effect.state && e.String(eventlog.AttributeEnvironment) == environment {
				w.checkPermitted(e, want, environment)
			}
		}
	}
	for _, e := range events {
		switch eventlog.Type(e.String(eventlog.AttributeType)) {
		case eventlog.FeatureCreated, eventlog.FeatureArchived, eventlog.FeatureRevived, eventlog.FeatureProjectChange,
			eventlog.FeatureDependencyAdded, eventlog.FeatureDependencyRemoved:
			w.checkPermitted(e, shared, "all environments")
		default:
		}
	}
}

// checkSegmentProtected checks the event of a change of the constraints of a segment, as checkProtected does.
func (w *World) checkSegmentProtected(c change, events []dynamo.Item) {
	if !changesConstraints(c) {
		return
	}
	want := permission{}
	for in := range w.segmentUsedIn(w.segmentOf(c)) {
		want = want.and(w.required(in, false, isOfRequest(events)))
	}
	for _, e := range events {
		w.checkPermitted(e, want, "all environments")
	}
}

// changesConstraints reports whether a change of the table Segments is one of the constraints of a segment.
func changesConstraints(c change) bool {
	return c.old != nil && c.next != nil && c.old.String("constraints") != c.next.String("constraints")
}

// segmentUsedIn returns where strategies of toggles that are not archived use a segment.
func (w *World) segmentUsedIn(id int64) map[place]bool {
	places := map[place]bool{}
	for _, item := range w.db.Items("Features") {
		f := w.decodeFeature(item)
		for environment, state := range f.Environments {
			for _, s := range state.Strategies {
				if !f.Archived && slices.Contains(s.Segments, id) {
					places[place{f.Project, environment}] = true
				}
			}
		}
	}
	return places
}

func (w *World) checkPermitted(event dynamo.Item, want permission, environment string) {
	what := fmt.Sprintf("the event %d %s of %s about %s", event.Int("id"), event.String(eventlog.AttributeType),
		event.String(eventlog.AttributeSubject), environment)
	if got := permissionOf(event); got != want {
		w.fail("%s has %+v, but the protection requires %+v", what, got, want)
	}
	by := event.Int(eventlog.AttributeCreatedByUserID)
	if want.skipped && !w.mightDo(by, event, "SKIP_CHANGE_REQUEST") {
		w.fail("%s is of the account %d, which may not skip change requests", what, by)
	}
	if want.turnedOff && !w.mightDo(by, event, "UPDATE_FEATURE_ENVIRONMENT") {
		w.fail("%s is of the account %d, which may not turn toggles off", what, by)
	}
}

// mightDo reports whether an account had a permission at some time of the request that has made a change. An API token and
// an operator, who have no account, always have it.
func (w *World) mightDo(account int64, event dynamo.Item, permission string) bool {
	projects, environments := []string{event.String(eventlog.AttributeProject)}, w.environments.names
	if projects[0] == "" { // a segment
		projects = slices.Collect(maps.Keys(w.latest().projects))
	}
	if in := event.String(eventlog.AttributeEnvironment); in != "" {
		environments = []string{in}
	}
	for _, s := range w.teamsSince(w.engine.caller.begun()) {
		for _, project := range projects {
			for _, environment := range environments {
				if s.may(account, project, permission, environment) {
					return true
				}
			}
		}
	}
	return account == 0
}
