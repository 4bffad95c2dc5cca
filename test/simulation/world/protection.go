package world

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// protectEnvironments protects and freezes environments, and ends it. What teams use is not frozen in all projects.
func (a *actor) protectEnvironments() {
	project, environment := choose(a, "default", "shop"), subject(a, a.environments.names...)
	path := "projects/" + project + "/environments/" + environment
	freeze := object{
		"from": time.Now().Add(-day).UTC().Format(time.RFC3339), "until": time.Now().Add(day).UTC().Format(time.RFC3339),
		"reason": a.name,
	}
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

// protectionOf reports whether an environment of a project is protected or frozen now, and whether turning off is, too.
func (w *World) protectionOf(project, environment string) (is, alsoOff bool) {
	for _, item := range w.db.Items(accesstable.Table) {
		if item.String(accesstable.Hash) == string(accesstable.KindProject) && item.String("projectId") == project {
			p := item.Map("protections").Map(environment)
			is = p.Bool("changeRequests") || p["freeze"] != nil
			alsoOff = p.Bool("forbidsTurningOff")
		}
	}
	for _, item := range w.db.Items("Environments") {
		is = is || item.String("name") == environment && item["freeze"] != nil
	}
	return is, alsoOff
}

// permission is how an event says that a change was permitted.
type permission struct{ skipped, turnedOff bool }

func permissionOf(event dynamo.Item) permission {
	return permission{event.Bool("skippedChangeRequest"), event.Bool("turnedOff")}
}

// checkProtected checks that the events of a change of a toggle say how it was permitted, if it changes what applications
// get in an environment that is protected or frozen, and only then. An Editor does not skip change requests.
func (w *World) checkProtected(c change, events []dynamo.Item) {
	before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
	shared := permission{} // of the events without an environment
	for _, environment := range w.environments.names {
		was, is, strategies := false, false, [2][]toggle.Strategy{}
		projects := []string{}
		for i, f := range []*toggle.Feature{before, after} {
			if f != nil {
				on := f.Environments[environment].Enabled && !f.Archived
				was, is = was || on && i == 0, is || on && i == 1
				strategies[i] = f.Environments[environment].Strategies
				projects = append(projects, f.Project)
			}
		}
		same := len(strategies[0])+len(strategies[1]) == 0 || reflect.DeepEqual(strategies[0], strategies[1])
		both := before != nil && after != nil
		moved := both && (before.Project != after.Project || before.Archived != after.Archived ||
			!reflect.DeepEqual(before.Dependency, after.Dependency))
		whole := (was || is) && (!both || moved)
		state := both && (!same || was != is && before.Archived == after.Archived)
		want := permission{}
		for _, project := range slices.Compact(projects) {
			protected, alsoOff := w.protectionOf(project, environment)
			onlyOff := state && !whole && same && was
			want.turnedOff = want.turnedOff || protected && onlyOff && !alsoOff
			want.skipped = want.skipped || protected && (!onlyOff || alsoOff)
		}
		if whole {
			shared.skipped, shared.turnedOff = shared.skipped || want.skipped, shared.turnedOff || want.turnedOff
		}
		for _, e := range events {
			if state && e.String(eventlog.AttributeEnvironment) == environment {
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
	if c.old == nil || c.next == nil || c.old.String("constraints") == c.next.String("constraints") {
		return
	}
	id, err := segmenttable.ID(c.next)
	w.must(err)
	want := permission{}
	for _, item := range w.db.Items("Features") {
		f := w.decodeFeature(item)
		for environment, state := range f.Environments {
			for _, s := range state.Strategies {
				protected, _ := w.protectionOf(f.Project, environment)
				want.skipped = want.skipped || protected && !f.Archived && slices.Contains(s.Segments, id)
			}
		}
	}
	for _, e := range events {
		w.checkPermitted(e, want, "all environments")
	}
}

func (w *World) checkPermitted(event dynamo.Item, want permission, environment string) {
	what := fmt.Sprintf("the event %d %s of %s about %s", event.Int("id"), event.String(eventlog.AttributeType),
		event.String(eventlog.AttributeSubject), environment)
	if got := permissionOf(event); got != want {
		w.fail("%s has %+v, but the protection requires %+v", what, got, want)
	}
	if want.skipped && event.Int(eventlog.AttributeCreatedByUserID) == w.editor.account {
		w.fail("%s is of an Editor, who may not skip change requests", what)
	}
}
