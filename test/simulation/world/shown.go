package world

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/toggle"
)

// segmentName is the name of a segment from a time on; empty: it does not exist.
type segmentName struct {
	from time.Time
	name string
}

// renamedSegment remembers the name of a segment.
func (w *World) renamedSegment(c change) {
	if !segmenttable.IsSegment(c.item) {
		return
	}
	name := ""
	if c.next != nil {
		name = c.next.String("name")
	}
	id := c.item.String(segmenttable.Hash)
	w.segments.named[id] = append(w.segments.named[id], segmentName{time.Now(), name})
}

// segmentNamed reports whether a segment had a name at some time of an operation, and whether it had it all the time.
func (w *World) segmentNamed(o *op, id int64, name string) (possibly, certainly bool) {
	states := w.segments.named[segmenttable.Name(id)]
	certainly = len(states) > 0 && !states[0].from.After(o.begun)
	for i, s := range states {
		if during(o, states, i, func(s segmentName) time.Time { return s.from }) {
			possibly = possibly || s.name == name
			certainly = certainly && s.name == name
		}
	}
	return possibly, certainly
}

// environmentExisted reports whether an environment existed at some time of an operation, and whether it did all the
// time.
func (w *World) environmentExisted(o *op, name string) (possibly, certainly bool) {
	states := w.environments.states[name]
	certainly = len(states) > 0 && !states[0].from.After(o.begun)
	for i, s := range states {
		if during(o, states, i, func(s existence) time.Time { return s.from }) {
			possibly = possibly || s.exists
			certainly = certainly && s.exists
		}
	}
	return possibly, certainly
}

// statesDuring returns the states of a toggle during an operation; nil: it did not exist at some time.
func (w *World) statesDuring(o *op, name string) (found []*toggle.Feature) {
	states := w.activation.toggles[name]
	if len(states) == 0 || states[0].from.After(o.begun) {
		found = append(found, nil)
	}
	for i, s := range states {
		if during(o, states, i, func(s toggleAt) time.Time { return s.from }) {
			found = append(found, s.feature)
		}
	}
	return found
}

// shownToggle is what a response says about where a toggle is on.
type shownToggle struct {
	Name         string
	Environments []struct {
		Name                                         string
		Enabled, HasStrategies, HasEnabledStrategies bool
		VariantCount                                 int
		Strategies                                   []toggle.Strategy
	}
	Segments []string
	Stage    string
}

// checkShown checks that a toggle was, at some time of an operation that succeeds, as its response shows it.
func (w *World) checkShown(o *op, response object) {
	if !o.ok() {
		return
	}
	text, err := json.Marshal(response)
	w.must(err)
	var shown shownToggle
	w.must(json.Unmarshal(text, &shown))
	var environments []string
	for _, e := range shown.Environments {
		environments = append(environments, e.Name)
	}
	for _, name := range w.environments.names {
		possibly, certainly := w.environmentExisted(o, name)
		if is := slices.Contains(environments, name); is && !possibly || !is && certainly {
			w.fail("a response of %s shows %s in the environments %v", o.actor, shown.Name, environments)
		}
	}
	if !slices.ContainsFunc(w.statesDuring(o, shown.Name), func(f *toggle.Feature) bool {
		return f != nil && w.isShown(o, *f, shown)
	}) {
		w.fail("there was no time at which the toggle %s was as a response of %s shows it: %s", shown.Name, o.actor, text)
	}
}

// isShown reports whether a response can show a state of a toggle.
func (w *World) isShown(o *op, f toggle.Feature, shown shownToggle) bool {
	if shown.Stage != stageOf(f) {
		return false
	}
	for _, e := range shown.Environments {
		is := f.Environments[e.Name]
		if e.Enabled != is.Enabled || e.HasStrategies != (len(is.Strategies) > 0) ||
			e.HasEnabledStrategies != is.HasEnabledStrategies() || e.VariantCount != is.VariantCount() ||
			len(e.Strategies) > 0 && !reflect.DeepEqual(e.Strategies, is.Strategies) {
			return false
		}
	}
	for _, name := range shown.Segments {
		if !slices.ContainsFunc(f.Segments(), func(id int64) bool {
			possibly, _ := w.segmentNamed(o, id, name)
			return possibly
		}) {
			return false
		}
	}
	return len(shown.Segments) <= len(f.Segments())
}

// searchByActivation searches the toggles that are on or off in an environment, or the others, and those that use a
// segment, or the others.
func (a *actor) searchByActivation(c *credential) {
	not := a.IntN(2) == 0
	operator := "IS:"
	if not {
		operator = "IS_NOT:"
	}
	a.meanwhile(choose(a, (*actor).switchToggle, (*actor).editStrategies))
	if a.IntN(2) == 0 {
		environment, on := choose(a, a.environments.names...), a.IntN(2) == 0
		status := map[bool]string{true: "enabled", false: "disabled"}[on]
		a.searchSelected(c, "status="+operator+environment+":"+status, func(o *op, f toggle.Feature) (possibly, certainly bool) {
			possibly, certainly = a.environmentExisted(o, environment)
			has := f.Environments[environment].Enabled == on
			return has && possibly, has && certainly
		}, not)
		return
	}
	name := choose(a, segmentNames...)
	a.searchSelected(c, "segment="+operator+url.QueryEscape(name), func(o *op, f toggle.Feature) (possibly, certainly bool) {
		for _, id := range f.Segments() {
			p, c := a.segmentNamed(o, id, name)
			possibly, certainly = possibly || p, certainly || c
		}
		return possibly, certainly
	}, not)
}

// searchSelected searches toggles, and checks which ones are returned. has reports whether a state of a toggle possibly
// and certainly has what the search is for.
func (a *actor) searchSelected(
	c *credential, query string, has func(*op, toggle.Feature) (possibly, certainly bool), not bool,
) {
	var found struct{ Features []object }
	o := a.get(c, "search/features?limit=100&"+query, &found)
	if !o.ok() {
		return
	}
	returned := map[string]bool{}
	for _, f := range found.Features {
		returned[fmt.Sprint(f["name"])] = true
		a.checkShown(o, f)
	}
	for _, name := range a.toggles.names {
		can, must := false, true // be returned
		for _, f := range a.statesDuring(o, name) {
			if f == nil || f.Archived {
				must = false
				continue
			}
			possibly, certainly := has(o, *f)
			if not {
				possibly, certainly = !certainly, !possibly
			}
			can, must = can || possibly, must && certainly
		}
		if returned[name] && !can || !returned[name] && must {
			a.fail("a search for %s returns %s: %t", query, name, returned[name])
		}
	}
	if !strings.Contains(o.response, fmt.Sprintf(`"total":%d`, len(found.Features))) {
		a.fail("a search for %s lacks toggles: %s", query, o.response)
	}
}
