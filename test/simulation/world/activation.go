package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/usage"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// activationState is what the world knows about where toggles are on: the states of each toggle and each environment in
// their order, each from a time on.
type activationState struct {
	toggles      map[string][]toggleAt
	environments map[string][]existence
}

// toggleAt is a toggle from a time on; nil: it does not exist.
type toggleAt struct {
	from    time.Time
	feature *toggle.Feature
}

// existence says whether something exists from a time on.
type existence struct {
	from   time.Time
	exists bool
}

// activated is what a request about a toggle in an environment concerns.
type activated struct{ name, project, environment string }

func (on activated) path() string {
	return togglePath(on.name, on.project) + "/environments/" + on.environment
}

// switchToggle turns toggles on and off, and reads where they are on.
func (a *actor) switchToggle() {
	on := a.activated()
	c := choose(a, a.admin, a.api, a.editor)
	switch a.IntN(6) {
	case 0, 1, 2:
		a.meanwhile((*actor).editStrategies)
		query := choose(a, "", "", "?shouldActivateDisabledStrategies=true")
		o := a.do(c, "POST "+on.path()+"/on"+query, nil)
		a.checkActivated(o, on, "is on", func(e toggle.Environment) bool { return e.Enabled })
	case 3:
		a.meanwhile((*actor).editStrategies)
		o := a.do(c, "POST "+on.path()+"/off", nil)
		a.checkActivated(o, on, "is off", func(e toggle.Environment) bool { return !e.Enabled })
	case 4:
		a.readActivation(c, on)
	default:
		a.raceForLastStrategy(c, on)
	}
}

// activated chooses a toggle and an environment. The project is most of the time that of the toggle.
func (a *actor) activated() activated {
	on := activated{
		name:        subject(a, a.toggles.names...),
		project:     choose(a, "default", "shop"),
		environment: subject(a, a.environments.names...),
	}
	if f := a.feature(on.name); f != nil && a.IntN(8) > 0 {
		on.project = f.Project
	}
	return on
}

// feature returns a toggle as it is now, or nil.
func (w *World) feature(name string) *toggle.Feature {
	states := w.activation.toggles[name]
	if len(states) == 0 {
		return nil
	}
	return states[len(states)-1].feature
}

// strategies returns the strategies of a toggle in an environment as they are now.
func (w *World) strategies(on activated) []toggle.Strategy {
	if f := w.feature(on.name); f != nil {
		return f.Environments[on.environment].Strategies
	}
	return nil
}

// editStrategies changes the strategies of a toggle in an environment.
func (a *actor) editStrategies() {
	on := a.activated()
	c := choose(a, a.admin, a.api, a.editor)
	all := a.strategies(on)
	kind := a.IntN(6)
	if len(all) == 0 || len(all) < 3 && kind == 0 {
		a.createStrategy(c, on)
		return
	}
	id := choose(a, all...).ID
	a.meanwhile((*actor).editStrategies)
	switch kind {
	case 1, 2:
		a.deleteStrategy(c, on, id)
	case 3:
		a.sortStrategies(c, on)
	default:
		a.updateStrategy(c, on, id)
	}
}

// raceForLastStrategy removes or disables the two enabled strategies of a toggle that is on, both at the same time, or
// turns it on at the time when the last one is removed.
func (a *actor) raceForLastStrategy(c *credential, on activated) {
	for _, s := range a.strategies(on) {
		a.deleteStrategy(c, on, s.ID)
	}
	a.createStrategy(c, on)
	if a.IntN(2) == 0 {
		a.createStrategy(c, on)
		a.do(c, "POST "+on.path()+"/on", nil)
	}
	all := a.strategies(on)
	if len(all) == 0 {
		return
	}
	a.beforeWrite(func(b *actor) {
		if len(all) == 1 {
			b.do(c, "POST "+on.path()+"/on", nil)
		} else {
			b.endStrategy(c, on, all[1].ID)
		}
	})
	a.endStrategy(c, on, all[0].ID)
}

// endStrategy deletes or disables a strategy.
func (a *actor) endStrategy(c *credential, on activated, id string) {
	if a.IntN(2) == 0 {
		a.deleteStrategy(c, on, id)
	} else {
		a.do(c, "PUT "+on.path()+"/strategies/"+id, object{"disabled": true})
	}
}

// createStrategy adds a strategy, sometimes while its environment is deleted, or while a context field loses a value.
func (a *actor) createStrategy(c *credential, on activated) {
	body := a.strategy()
	switch a.IntN(6) {
	case 0:
		a.beforeWrite(func(b *actor) { b.deleteEnvironment(a.admin, on.environment) })
	case 1:
		field := subject(a, a.fields.names...)
		body["constraints"] = []object{{"contextName": field, "operator": "IN", "values": []string{"1"}}}
		a.beforeWrite(func(b *actor) { b.restrictField(field, "2") })
	}
	o := a.do(c, "POST "+on.path()+"/strategies", body)
	var created toggle.Strategy
	if o.ok() {
		a.decode(o, &created)
	}
	a.checkActivated(o, on, "has the strategy "+created.ID, func(e toggle.Environment) bool {
		return e.Strategy(created.ID) >= 0
	})
}

// strategy returns the body of a creation or an update.
func (a *actor) strategy() object {
	a.n++
	body := object{
		"name": "flexibleRollout", "title": fmt.Sprintf("%s %d", a.name, a.n), "disabled": a.IntN(3) == 0,
		"constraints": a.constraints(), "segments": a.usedSegments(),
	}
	return body
}

func (a *actor) deleteStrategy(c *credential, on activated, id string) {
	o := a.do(c, "DELETE "+on.path()+"/strategies/"+id, nil)
	a.checkActivated(o, on, "lacks the strategy "+id, func(e toggle.Environment) bool { return e.Strategy(id) < 0 })
}

// updateStrategy reads a strategy and changes it, most of the time only if it is as it was read.
func (a *actor) updateStrategy(c *credential, on activated, id string) {
	path := on.path() + "/strategies/" + id
	var seen toggle.Strategy
	read := a.get(c, path, &seen)
	if !read.ok() {
		return
	}
	a.checkActivated(read, on, "has the strategy that was read", func(e toggle.Environment) bool {
		i := e.Strategy(id)
		return i >= 0 && reflect.DeepEqual(e.Strategies[i], seen)
	})
	body := a.strategy()
	match := []string{read.etag}
	if a.IntN(4) == 0 {
		match = nil
	}
	if a.IntN(2) == 0 {
		a.beforeWrite(func(b *actor) { b.do(c, "PUT "+path, b.strategy()) })
	}
	o := a.do(c, "PUT "+path, body, match...)
	a.checkActivated(o, on, "has the strategy that was written", func(e toggle.Environment) bool {
		i := e.Strategy(id)
		return i >= 0 && titleOf(e.Strategies[i]) == body["title"]
	})
	if o.ok() && match != nil {
		a.checkReplaced(on, id, fmt.Sprint(body["title"]), seen)
	}
}

func titleOf(s toggle.Strategy) string {
	if s.Title == nil {
		return ""
	}
	return *s.Title
}

// checkReplaced checks that an update with a precondition has replaced what was read.
func (w *World) checkReplaced(on activated, id, title string, seen toggle.Strategy) {
	for _, e := range w.events.log["toggle:"+on.name] {
		var data, before toggle.Strategy
		if e.String(eventlog.AttributeType) != string(eventlog.FeatureStrategyUpdate) ||
			json.Unmarshal([]byte(e.String(eventlog.AttributeData)), &data) != nil || data.ID != id || titleOf(data) != title {
			continue
		}
		w.must(json.Unmarshal([]byte(e.String(eventlog.AttributePreData)), &before))
		if !reflect.DeepEqual(before, seen) {
			w.fail("an update of the strategy %s of %s replaces %v, but its ETag is of %v", id, on.name, before, seen)
		}
	}
}

// sortStrategies moves the last strategy to the beginning.
func (a *actor) sortStrategies(c *credential, on activated) {
	all := a.strategies(on)
	a.do(c, "PUT "+on.path()+"/strategies/"+all[len(all)-1].ID, object{"sortOrder": all[0].SortOrder - 1})
}

func (a *actor) readActivation(c *credential, on activated) {
	var out toggle.Environment
	o := a.get(c, on.path(), &out)
	a.checkActivated(o, on, "is as the response says", func(e toggle.Environment) bool {
		return out.Enabled == e.Enabled && len(out.Strategies) == len(e.Strategies) &&
			(len(e.Strategies) == 0 || reflect.DeepEqual(out.Strategies, e.Strategies))
	})
}

// checkActivated checks the result of a request about a toggle in an environment: what a success says was true at some
// time while the request was handled, and what a 404 names did not exist at some time.
func (w *World) checkActivated(o *op, on activated, what string, holds func(toggle.Environment) bool) {
	if !o.ok() && o.status != http.StatusNotFound {
		return
	}
	found, complete := false, true
	for i, s := range w.activation.toggles[on.name] {
		if !during(o, w.activation.toggles[on.name], i, func(s toggleAt) time.Time { return s.from }) {
			continue
		}
		here := s.feature != nil && s.feature.Project == on.project
		complete = complete && here
		found = found || here && holds(s.feature.Environments[on.environment])
	}
	complete = complete && len(w.activation.toggles[on.name]) > 0
	existed := false
	for i, s := range w.activation.environments[on.environment] {
		if during(o, w.activation.environments[on.environment], i, func(s existence) time.Time { return s.from }) {
			complete, existed = complete && s.exists, existed || s.exists
		}
	}
	switch {
	case o.ok() && (!found || !existed):
		w.fail("a request of %s succeeds, but there was no time at which %s in %s %s", o.actor, on.name, on.environment, what)
	case o.status == http.StatusNotFound && complete && existed && !strings.Contains(o.response, "strategy"):
		w.fail("a request of %s about %s in %s is 404, but both existed all the time: %s", o.actor, on.name,
			on.environment, o.response)
	}
}

// during reports whether the i-th of some states, each from a time on, was one at some time of an operation.
func during[T any](o *op, states []T, i int, from func(T) time.Time) bool {
	return !from(states[i]).After(o.ended) && (i+1 == len(states) || !from(states[i+1]).Before(o.begun))
}

// decodeFeature returns the toggle of an item; nil: there is none.
func (w *World) decodeFeature(item dynamo.Item) *toggle.Feature {
	if item == nil {
		return nil
	}
	f, err := featuretable.Unmarshal(item)
	w.must(err)
	return &f
}

// changedActivation checks the state of a toggle after a write, and remembers it.
func (w *World) changedActivation(c change) {
	name, f := c.item.String("name"), w.decodeFeature(c.next)
	w.activation.toggles[name] = append(w.activation.toggles[name], toggleAt{time.Now(), f})
	if f == nil {
		return
	}
	known := w.existingEnvironments()
	ids := map[string]bool{}
	for environment, e := range f.Environments {
		if e.Enabled && !e.HasEnabledStrategies() {
			w.fail("the toggle %s is on in %s without an enabled strategy", name, environment)
		}
		if before := w.decodeFeature(c.old); !slices.Contains(known, environment) &&
			(before == nil || !reflect.DeepEqual(before.Environments[environment], e)) {
			w.fail("the toggle %s gets a state in the environment %s, which does not exist", name, environment)
		}
		for _, s := range e.Strategies {
			if ids[s.ID] {
				w.fail("the toggle %s has two strategies with the id %s", name, s.ID)
			}
			ids[s.ID] = true
		}
	}
}

// changedEnvironment remembers whether an environment exists.
func (w *World) changedEnvironment(c change) {
	name := c.item.String("name")
	if strings.Contains(name, "#") {
		return
	}
	exists := c.next != nil && isEnvironment(c.next)
	w.activation.environments[name] = append(w.activation.environments[name], existence{time.Now(), exists})
}

// checkEnvironmentUsage compares the usage of environments with a recount of the toggles that are on.
func (w *World) checkEnvironmentUsage() {
	recount, stored := map[string]int64{}, map[string]int64{} // by environment and project
	for _, item := range w.db.Items("Features") {
		if !item.Bool("archived") {
			for _, name := range item.StringSet(featuretable.AttributeEnabledIn) {
				recount[name+" in "+item.String("project")]++
			}
		}
	}
	table := environment.UsageTable(nil, nil)
	for _, item := range w.db.Items("Environments") {
		if name, ok := table.ResourceOf(item); ok {
			used, _ := usage.FromItem(item)
			for project, n := range used.Counts {
				stored[name+" in "+project] = n
			}
		}
	}
	if !maps.Equal(stored, recount) {
		w.fail("the usage of the environments is %v, but toggles are on in %v", stored, recount)
	}
}

// checkActivationRecorded checks that the events of a call explain what has changed about where a toggle is on.
func (w *World) checkActivationRecorded(c change, events []dynamo.Item) {
	before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
	if before == nil || after == nil || reflect.DeepEqual(before.Environments, after.Environments) {
		return
	}
	expected := map[string]toggle.Environment{}
	for name, e := range before.Environments {
		e.Strategies = slices.Clone(e.Strategies)
		expected[name] = e
	}
	for _, item := range events {
		name := item.String(eventlog.AttributeEnvironment)
		e := expected[name]
		var data, preData toggle.Strategy
		_ = json.Unmarshal([]byte(item.String(eventlog.AttributeData)), &data)
		_ = json.Unmarshal([]byte(item.String(eventlog.AttributePreData)), &preData)
		switch item.String(eventlog.AttributeType) {
		case string(eventlog.FeatureEnvironmentEnabled):
			e.Enabled = true
		case string(eventlog.FeatureEnvironmentDisabled):
			e.Enabled = false
		case string(eventlog.FeatureStrategyAdd):
			e.Strategies = append(e.Strategies, data)
		case string(eventlog.FeatureStrategyUpdate):
			if i := e.Strategy(data.ID); i >= 0 {
				e.Strategies[i] = data
			}
		case string(eventlog.FeatureStrategyRemove):
			if i := e.Strategy(preData.ID); i >= 0 {
				e.Strategies = slices.Delete(e.Strategies, i, i+1)
			}
		}
		if name != "" {
			expected[name] = e
		}
	}
	existing := w.existingEnvironments()
	for name, e := range expected {
		is := after.Environments[name]
		for _, of := range []toggle.Environment{e, is} {
			for i := range of.Strategies {
				of.Strategies[i].SortOrder = 0 // of another event
			}
			slices.SortFunc(of.Strategies, func(a, b toggle.Strategy) int { return strings.Compare(a.ID, b.ID) })
		}
		same := e.Enabled == is.Enabled && len(e.Strategies) == len(is.Strategies) &&
			(len(is.Strategies) == 0 || reflect.DeepEqual(e.Strategies, is.Strategies))
		removed := !slices.Contains(existing, name) && len(is.Strategies) == 0
		if !same && !removed {
			w.fail("the events of a call of %s say that %s is %v in %s, but it is %v", w.engine.caller.process.name,
				after.Name, e, name, is)
		}
	}
}

// checkLegalValues checks that the constraints of toggles have only legal values, except those of toggles that were
// archived at some time.
func (w *World) checkLegalValues() {
	legal := map[string][]string{}
	for _, item := range w.db.Items("ContextFields") {
		var field struct {
			LegalValues []struct {
				Value string `dynamodbav:"value"`
			} `dynamodbav:"legalValues"`
		}
		w.must(dynamo.Unmarshal(item, &field))
		for _, v := range field.LegalValues {
			legal[item.String("name")] = append(legal[item.String("name")], v.Value)
		}
	}
	for name, states := range w.activation.toggles {
		f := states[len(states)-1].feature
		if f == nil || slices.ContainsFunc(states, func(s toggleAt) bool { return s.feature != nil && s.feature.Archived }) {
			continue
		}
		for environment, e := range f.Environments {
			for _, s := range e.Strategies {
				for _, c := range s.Constraints {
					values := legal[c.ContextName]
					if values != nil && slices.ContainsFunc(c.Values, func(v string) bool { return !slices.Contains(values, v) }) {
						w.fail("the toggle %s has the constraint %v in %s, but the legal values are %.3q", name, c, environment,
							values)
					}
				}
			}
		}
	}
}

// losesOnlyDeletedEnvironments reports whether a change removes nothing but the states of a toggle in environments whose
// deletion was recorded.
func (w *World) losesOnlyDeletedEnvironments(c change) bool {
	before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
	if before == nil || after == nil {
		return false
	}
	existing := w.existingEnvironments()
	maps.DeleteFunc(before.Environments, func(name string, _ toggle.Environment) bool {
		_, left := after.Environments[name]
		return !left && !slices.Contains(existing, name)
	})
	before.ContextFields = after.ContextFields
	return !before.Differs(*after)
}
