package world

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// activationState is what the world knows about where toggles are on: the states of each toggle in their order.
type activationState struct{ toggles map[string][]toggleAt }

// toggleAt is a toggle from a time on; nil: it does not exist.
type toggleAt struct {
	from    time.Time
	feature *toggle.Feature
}

// activated is what a request about a toggle in an environment concerns.
type activated struct{ name, project, environment string }

func (on activated) path() string {
	return togglePath(on.name, on.project) + "/environments/" + on.environment
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
	for i, s := range w.environments.states[on.environment] {
		if during(o, w.environments.states[on.environment], i, func(s existence) time.Time { return s.from }) {
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
	w.checkEnvironmentsOfProjects()
	before := w.decodeFeature(c.old)
	w.checkMark(before, f)
	w.checkReach(before, f)
	known := w.existingEnvironments()
	ids := map[string]bool{}
	for environment, e := range f.Environments {
		if e.Enabled && !e.HasEnabledStrategies() {
			w.fail("the toggle %s is on in %s without an enabled strategy", name, environment)
		}
		if before := w.decodeFeature(c.old); !slices.Contains(known, environment) &&
			(before == nil || adds(before.Environments[environment], e)) {
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

// adds reports whether a state has something that the state before it lacks. What is removed needs no environment.
func adds(before, next toggle.Environment) bool {
	return next.Enabled && !before.Enabled || slices.ContainsFunc(next.Strategies, func(s toggle.Strategy) bool {
		i := before.Strategy(s.ID)
		return i < 0 || !reflect.DeepEqual(before.Strategies[i], s)
	})
}

// checkActivationRecorded checks that the events of a call explain what has changed about where a toggle is on.
func (w *World) checkActivationRecorded(c change, events []dynamo.Item) {
	before, after := w.decodeFeature(c.old), w.decodeFeature(c.next)
	if before == nil || after == nil || reflect.DeepEqual(before.Environments, after.Environments) {
		return
	}
	w.checkOrderRecorded(*before, *after, events)
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

// checkOrderRecorded checks that strategies whose sort order changes have an event, which says in which order they are.
func (w *World) checkOrderRecorded(before, after toggle.Feature, events []dynamo.Item) {
	updated, recorded := map[string]bool{}, map[string][]string{}
	for _, item := range events {
		var data struct {
			ID          string
			StrategyIDs []string
		}
		_ = json.Unmarshal([]byte(item.String(eventlog.AttributeData)), &data)
		switch item.String(eventlog.AttributeType) {
		case string(eventlog.FeatureStrategyUpdate):
			updated[data.ID] = true
		case string(eventlog.StrategyOrderChanged):
			recorded[item.String(eventlog.AttributeEnvironment)] = data.StrategyIDs
		}
	}
	for name, e := range after.Environments {
		moved := false
		var ids []string
		for _, s := range e.Strategies {
			ids = append(ids, s.ID)
			i := before.Environments[name].Strategy(s.ID)
			moved = moved || i >= 0 && before.Environments[name].Strategies[i].SortOrder != s.SortOrder && !updated[s.ID]
		}
		if moved != (recorded[name] != nil) || moved && !slices.Equal(recorded[name], ids) {
			w.fail("the strategies of %s in %s are %v, and the event of their order says %v", after.Name, name, ids, recorded[name])
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
