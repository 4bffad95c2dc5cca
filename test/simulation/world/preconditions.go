package world

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// requires reads a part of a project for a change with its entity tag, while others change the project. It returns the
// If-Match, or nothing. The next step of the actor must change only a project whose part is as it was read.
func (a *actor) requires(by *credential, id, part string, rival func(*actor)) (match []string) {
	if a.IntN(2) == 0 {
		return nil
	}
	o := a.do(by, "GET projects/"+id+part, nil)
	if !o.ok() || o.etag == "" {
		return nil
	}
	a.expected = func(old storedProject) string {
		if shown := a.shows(part, o, old); !shown {
			return fmt.Sprintf("%s changes the project %s for the tag of %s, but it was %+v", a.name, id, shortened(o.response, 1000), old)
		}
		return ""
	}
	a.beforeWrite(rival)
	return []string{o.etag}
}

// shows reports whether a response shows a part of a project as it is stored.
func (w *World) shows(part string, o *op, p storedProject) bool {
	if part == accessPart {
		var shown struct {
			Users, Groups []struct {
				ID    int64
				Roles []int64
			}
		}
		w.decode(o, &shown)
		users, groups := map[string][]int64{}, map[string][]int64{}
		for _, u := range shown.Users {
			users[fmt.Sprint(u.ID)] = u.Roles
		}
		for _, g := range shown.Groups {
			groups[fmt.Sprint(g.ID)] = g.Roles
		}
		now := w.latest()
		return reflect.DeepEqual(users, existing(p.Users, users, now.accounts)) &&
			reflect.DeepEqual(groups, existing(p.Groups, groups, now.groups))
	}
	var shown []struct {
		Environment          string
		ChangeRequestEnabled bool
		AllowTurningOff      bool
	}
	w.decode(o, &shown)
	var names []string
	for _, e := range shown {
		names = append(names, e.Environment)
		stored := p.Protections[e.Environment]
		required := w.latest().environments[e.Environment].RequiredApprovals > 0
		if e.AllowTurningOff == stored.ForbidsTurningOff || !required && e.ChangeRequestEnabled != stored.ChangeRequests {
			return false
		}
	}
	isMissing := func(name string) bool { return !slices.Contains(p.Environments, name) }
	return p.Environments == nil || !slices.ContainsFunc(names, isMissing)
}

// The parts of a project that have an entity tag.
const (
	accessPart = "/access"
	configPart = "/change-requests/config"
)

// existing returns the roles of those that exist, or that a response shows.
func existing[T any](stored, shown map[string][]int64, known map[int64]T) map[string][]int64 {
	all := maps.Clone(stored)
	if all == nil {
		all = map[string][]int64{}
	}
	maps.DeleteFunc(all, func(id string, _ []int64) bool {
		_, ok := known[parsed(id)]
		return !ok && shown[id] == nil
	})
	return all
}

// checkPrecondition checks that a request with an If-Match changes only what it was sent for.
func (w *World) checkPrecondition(c change) {
	t := w.engine.caller.tracked()
	if t == nil || t.expected == nil || accesstable.Kind(c.item.String(accesstable.Hash)) != accesstable.KindProject {
		return
	}
	var old storedProject
	w.must(dynamo.Unmarshal(c.old, &old))
	if problem := t.expected(old); problem != "" {
		w.fail("%s", problem)
	}
}
