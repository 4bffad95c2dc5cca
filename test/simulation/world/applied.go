package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
)

// changeID identifies a change of a request.
type changeID struct{ request, change int64 }

// basis is what the result of a change depends on, as it was at some time of the call that added the change: people have
// approved the change of this. There is one text for each of these times.
type basis struct {
	toggle   []string
	segments map[int64][]string
}

// basisOf returns the basis of a change at the times since one.
func (w *World) basisOf(r changerequest.Request, c changerequest.Change, since time.Time) basis {
	b := basis{segments: map[int64][]string{}}
	o := &op{begun: since, ended: time.Now()}
	used := w.idsIn(w.payload(c)["segments"])
	if c.IsOfSegment() {
		used = []int64{c.Segment}
	}
	states := w.activation.toggles[c.Feature]
	for i, s := range states {
		if !during(o, states, i, func(s toggleAt) time.Time { return s.from }) {
			continue
		}
		b.toggle = append(b.toggle, w.basisInToggle(r, c, s.feature))
		if c.Action == changerequest.UpdateEnabled && w.payload(c)["enabled"] == true && s.feature != nil {
			for _, strategy := range s.feature.Environments[r.Environment].Strategies {
				used = append(used, strategy.Segments...)
			}
		}
		if _, changes := w.payload(c)["segments"]; c.Action == changerequest.UpdateStrategy && !changes && s.feature != nil {
			for _, strategy := range s.feature.Environments[r.Environment].Strategies {
				if strategy.ID == w.payload(c)["id"] {
					used = append(used, strategy.Segments...)
				}
			}
		}
	}
	for _, id := range used {
		states := w.segments.states[id]
		for i, s := range states {
			if during(o, states, i, func(s storedSegment) time.Time { return s.from }) {
				b.segments[id] = append(b.segments[id], s.text(c.IsOfSegment()))
			}
		}
	}
	return b
}

// idsIn returns the ids of a list in a payload.
func (w *World) idsIn(list any) (ids []int64) {
	w.must(json.Unmarshal(encode(list), &ids))
	return ids
}

// basisInToggle returns the parts of a toggle on which the result of a change depends.
func (w *World) basisInToggle(r changerequest.Request, c changerequest.Change, f *toggle.Feature) string {
	switch {
	case c.IsOfSegment():
		return ""
	case f == nil || f.Project != r.Project:
		return "missing"
	case f.Archived:
		return "archived"
	}
	state := f.Environments[r.Environment]
	switch c.Action {
	case changerequest.UpdateEnabled:
		if w.payload(c)["enabled"] == true {
			return string(encode(state.Strategies))
		}
	case changerequest.UpdateStrategy, changerequest.DeleteStrategy:
		if i := state.Strategy(fmt.Sprint(w.payload(c)["id"])); i >= 0 {
			return string(encode(state.Strategies[i]))
		}
		return "missing"
	case changerequest.ReorderStrategy:
		var orders []string
		for _, s := range state.Strategies {
			orders = append(orders, fmt.Sprint(s.ID, " ", s.SortOrder))
		}
		return strings.Join(orders, "\n")
	case changerequest.AddDependency, changerequest.DeleteDependency:
		return string(encode(f.Dependency))
	default:
	}
	return ""
}

// checkApplied checks that the call, which applies a request, makes all of its changes and no other one: with the approvals
// that it needs now, by somebody who may, as the people who approved have seen them.
func (w *World) checkApplied(r changerequest.Request) {
	since := w.engine.caller.readSince(r.ID)
	event, events := w.eventsOfCall(r.ID)
	by := event.Int(eventlog.AttributeCreatedByUserID)
	states, changed := w.teamsSince(since), w.changedPlaces()
	places := append(changed, placeOf(r))
	now := w.latest()
	now.at = since.Add(-w.skew - sweepDelay) // no condition of a transaction is that an ID token is not too old
	if !now.isApproved(r, changed) ||
		!slices.ContainsFunc(states, func(s teamsAt) bool { return s.isApproved(r, places) }) {
		w.fail("the request %d is applied without the approvals that %v need: %+v", r.ID, places, r.Approvals)
	}
	mayApply := func(s teamsAt) bool { return by == 0 || s.mayApply(by, r, places) }
	if !slices.ContainsFunc(w.teamsSince(w.engine.caller.begun()), mayApply) {
		w.fail("the request %d is applied by the account %d, which may not", r.ID, by)
	}
	for _, e := range events {
		if e.Int("changeRequestId") != r.ID {
			w.fail("the request %d is applied, and the event %d of %s does not say so", r.ID, e.Int("id"), e.String("subject"))
		}
	}
	w.checkBases(r, since)
	w.checkResult(r, since)
}

// directPermissions are what the direct operations of changes require.
var directPermissions = map[changerequest.Action]string{
	changerequest.UpdateEnabled:    "UPDATE_FEATURE_ENVIRONMENT",
	changerequest.AddStrategy:      "CREATE_FEATURE_STRATEGY",
	changerequest.UpdateStrategy:   "UPDATE_FEATURE_STRATEGY",
	changerequest.DeleteStrategy:   "DELETE_FEATURE_STRATEGY",
	changerequest.ReorderStrategy:  "UPDATE_FEATURE_STRATEGY",
	changerequest.ArchiveFeature:   "DELETE_FEATURE",
	changerequest.AddDependency:    "UPDATE_FEATURE_DEPENDENCY",
	changerequest.DeleteDependency: "UPDATE_FEATURE_DEPENDENCY",
}

// mayApply reports whether an account may apply a request that changes places.
func (t teamsAt) mayApply(account int64, r changerequest.Request, places []place) bool {
	if slices.ContainsFunc(places, func(in place) bool { return t.needed(in) > 0 }) {
		return t.may(account, r.Project, "APPLY_CHANGE_REQUEST", r.Environment)
	}
	for _, c := range r.Changes {
		permission, environment := directPermissions[c.Action], ""
		if strings.HasSuffix(permission, "_ENVIRONMENT") || strings.HasSuffix(permission, "_STRATEGY") {
			environment = r.Environment
		}
		may := t.may(account, r.Project, permission, environment)
		if c.IsOfSegment() {
			may = t.root(account) <= rootEditor
		}
		if !may {
			return false
		}
	}
	return true
}

// changedPlaces returns the places in which the call changes what applications get.
func (w *World) changedPlaces() []place {
	places := map[place]bool{}
	for _, c := range w.engine.changes {
		switch {
		case c.table == "Features":
			before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
			for _, environment := range w.environments.names {
				if e := effectIn(before, after, environment); e.state || e.whole {
					for _, project := range e.projects {
						places[place{project, environment}] = true
					}
				}
			}
		case c.table == "Segments" && changesConstraints(c):
			maps.Copy(places, w.segmentUsedIn(w.segmentOf(c)))
		}
	}
	return slices.Collect(maps.Keys(places))
}

// placesOf returns the places in which a request can change what applications get now.
func (w *World) placesOf(r changerequest.Request) []place {
	places := map[place]bool{placeOf(r): true}
	for _, c := range r.Changes {
		switch c.Action {
		case changerequest.ArchiveFeature, changerequest.AddDependency, changerequest.DeleteDependency:
			for _, environment := range w.environments.names {
				places[place{r.Project, environment}] = true
			}
		case changerequest.UpdateSegment:
			maps.Copy(places, w.segmentUsedIn(c.Segment))
		default:
		}
	}
	return slices.Collect(maps.Keys(places))
}

// checkBases checks that what the changes of a request depend on is as it was when they were added: now if the call writes
// it, otherwise since the time at which it was read.
func (w *World) checkBases(r changerequest.Request, since time.Time) {
	written := map[string]bool{} // toggles
	for _, c := range w.engine.changes {
		written[c.item.String("name")] = written[c.item.String("name")] || c.table == "Features"
	}
	for _, c := range r.Changes {
		seen, now := w.requests.bases[changeID{r.ID, c.ID}], w.basisOf(r, c, since)
		if n := len(now.toggle); written[c.Feature] {
			now.toggle = now.toggle[n-1:]
		}
		if !c.IsOfSegment() && !overlap(seen.toggle, now.toggle) {
			w.fail("the request %d is applied, and the change %d %s of %s is not that of what was approved: %q, before %q", r.ID,
				c.ID, c.Action, c.Feature, now.toggle, seen.toggle)
		}
		for id, texts := range seen.segments {
			is := now.segments[id]
			if c.IsOfSegment() {
				is = is[len(is)-1:]
			}
			if !overlap(texts, is) {
				w.fail("the request %d is applied, and the segment %d of the change %d is not as it was approved: %q, before %q", r.ID,
					id, c.ID, is, texts)
			}
		}
	}
}

// overlap reports whether two lists have an element in common.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(text string) bool { return slices.Contains(b, text) })
}

// checkResult checks that toggles and segments are after the call as the changes of a request say, and nothing else.
func (w *World) checkResult(r changerequest.Request, since time.Time) {
	unchanged := map[string]bool{}
	for _, c := range r.Changes {
		unchanged[c.Feature] = !c.IsOfSegment()
	}
	for _, c := range w.engine.changes {
		name := c.item.String("name")
		switch {
		case c.table == "Features" && unchanged[name]:
			before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
			if is, want := outcomeOf(after, r).text(*before, r), w.outcomeAfter(r, before).text(*before, r); is != want {
				w.fail("the request %d is applied, and %s is %s, but the changes make it %s", r.ID, name, is, want)
			}
			w.checkOtherParts(r, *before, *after)
			unchanged[name] = false
		case c.table == "Features" && !w.differOnlyInChildren(c):
			w.fail("the request %d is applied, and changes %s", r.ID, name)
		}
	}
	reads := &op{begun: since, ended: time.Now()}
	for name, is := range unchanged {
		isAlready := func(f *toggle.Feature) bool {
			return f != nil && outcomeOf(f, r).text(*f, r) == w.outcomeAfter(r, f).text(*f, r)
		}
		if is && !w.was(reads, name, isAlready) {
			w.fail("the request %d is applied, and does not change %s", r.ID, name)
		}
	}
	w.checkSegmentResults(r)
}

// outcomeAfter returns the outcome of the changes of a request for a toggle.
func (w *World) outcomeAfter(r changerequest.Request, f *toggle.Feature) outcome {
	out := outcomeOf(f, r)
	for _, c := range r.Changes {
		if c.Feature == f.Name {
			out.apply(c, w.payload(c))
		}
	}
	return out
}

// differOnlyInChildren reports whether a change of a toggle changes nothing but its children.
func (w *World) differOnlyInChildren(c change) bool {
	before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
	if before == nil || after == nil {
		return false
	}
	before.Children = after.Children
	return !before.Differs(*after)
}

// checkOtherParts checks that a request changes nothing of a toggle that no change of it can concern.
func (w *World) checkOtherParts(r changerequest.Request, before, after toggle.Feature) {
	for _, f := range []*toggle.Feature{&before, &after} {
		f.Archived, f.ArchivedAt, f.Dependency, f.ContextFields, f.Children = false, nil, nil, nil, nil
		f.Environments = maps.Clone(f.Environments)
		delete(f.Environments, r.Environment)
	}
	if before.Differs(after) {
		w.fail("the request %d for %s is applied, and changes other parts of %s", r.ID, r.Environment, after.Name)
	}
}

// checkSegmentResults checks that segments are after the call as the last change of each of them in a request says.
func (w *World) checkSegmentResults(r changerequest.Request) {
	last, is := map[int64]changerequest.Change{}, map[int64]storedSegment{}
	for _, c := range r.Changes {
		if states := w.segments.states[c.Segment]; c.IsOfSegment() {
			last[c.Segment], is[c.Segment] = c, states[len(states)-1]
		}
	}
	for _, c := range w.engine.changes {
		if c.table != "Segments" || !segmenttable.IsSegment(c.item) {
			continue
		}
		id := w.segmentOf(c)
		if is[id] = w.storedSegment(c); last[id].ID == 0 {
			w.fail("the request %d is applied, and changes the segment %d", r.ID, id)
		}
	}
	for id, c := range last {
		if !is[id].has(w.payload(c)) {
			w.fail("the request %d is applied, and the segment %d is not as the change %d says", r.ID, id, c.ID)
		}
	}
}

// outcome is what the changes of a request concern of a toggle, as a naive application of them makes it.
type outcome struct {
	enabled, archived bool
	dependency        string
	strategies        []toggle.Strategy
}

func outcomeOf(f *toggle.Feature, r changerequest.Request) outcome {
	e := f.Environments[r.Environment]
	out := outcome{enabled: e.Enabled, archived: f.Archived, strategies: slices.Clone(e.Strategies)}
	if f.Dependency != nil {
		out.dependency = fmt.Sprint(f.Dependency.Feature, f.Dependency.Enabled)
	}
	return out
}

// apply makes a change.
func (out *outcome) apply(c changerequest.Change, payload object) {
	isOn := func(s toggle.Strategy) bool { return !s.Disabled }
	i := slices.IndexFunc(out.strategies, func(s toggle.Strategy) bool { return s.ID == payload["id"] })
	switch c.Action {
	case changerequest.UpdateEnabled:
		if payload["enabled"] != true {
			out.enabled = false
		} else if !out.enabled {
			out.turnOn(payload["shouldActivateDisabledStrategies"] == true)
		}
	case changerequest.AddStrategy:
		out.strategies = append(out.strategies, strategyOf(payload, toggle.Strategy{}))
	case changerequest.UpdateStrategy:
		if i >= 0 {
			out.strategies[i] = strategyOf(payload, out.strategies[i])
		}
		out.enabled = out.enabled && slices.ContainsFunc(out.strategies, isOn)
	case changerequest.DeleteStrategy:
		if i >= 0 {
			out.strategies = slices.Delete(out.strategies, i, i+1)
		}
		out.enabled = out.enabled && slices.ContainsFunc(out.strategies, isOn)
	case changerequest.ReorderStrategy:
		var orders []struct {
			ID        string
			SortOrder int32
		}
		_ = json.Unmarshal(c.Payload, &orders)
		for _, o := range orders {
			for i := range out.strategies {
				if out.strategies[i].ID == o.ID {
					out.strategies[i].SortOrder = o.SortOrder
				}
			}
		}
	case changerequest.ArchiveFeature:
		out.archived = true
	case changerequest.AddDependency:
		out.dependency = fmt.Sprint(payload["feature"], payload["enabled"])
	case changerequest.DeleteDependency:
		out.dependency = ""
	case changerequest.UpdateSegment, changerequest.DeleteSegment:
	}
}

// turnOn turns a toggle on. It has an enabled strategy then.
func (out *outcome) turnOn(activate bool) {
	out.enabled = true
	switch {
	case slices.ContainsFunc(out.strategies, func(s toggle.Strategy) bool { return !s.Disabled }):
	case activate && len(out.strategies) > 0:
		for i := range out.strategies {
			out.strategies[i].Disabled = false
		}
	default:
		out.strategies = append(out.strategies, toggle.Strategy{})
	}
}

// strategyOf returns a strategy with the title, the switch and, if they are sent, the segments of a payload. The title
// stands for the rest.
func strategyOf(payload object, s toggle.Strategy) toggle.Strategy {
	s.Title = new(fmt.Sprint(payload["title"]))
	s.Disabled = payload["disabled"] == true
	ids, changes := payload["segments"].([]any)
	if !changes {
		return s
	}
	s.Segments = nil
	for _, id := range ids {
		s.Segments = append(s.Segments, int64(id.(float64))) //nolint:forcetypeassert,errcheck // actors send ids
	}
	return s
}

// text returns the outcome as text. The ids and sort orders of strategies that the toggle did not have before are left out.
func (out outcome) text(before toggle.Feature, r changerequest.Request) string {
	var strategies []string
	for _, s := range out.strategies {
		identity := "new"
		if before.Environments[r.Environment].Strategy(s.ID) >= 0 {
			identity = fmt.Sprint(s.ID, " at ", s.SortOrder)
		}
		strategies = append(strategies, fmt.Sprintf("%s %q %t %d", identity, titleOf(s), s.Disabled, s.Segments))
	}
	return fmt.Sprintf("on %t, archived %t, dependent on %q with %s", out.enabled, out.archived, out.dependency,
		canonical(strategies))
}
