package world

import (
	"encoding/json"
	"fmt"
	"reflect"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
)

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
	case 1:
		a.deleteStrategy(c, on, id)
	case 2, 3:
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
	if a.IntN(3) == 0 {
		body["variants"] = []object{{"name": choose(a, "blue", "green"), "weightType": "variable", "stickiness": "default"}}
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

// sortStrategies reverses the order of the strategies, or moves the last one to the beginning.
func (a *actor) sortStrategies(c *credential, on activated) {
	all := a.strategies(on)
	if len(all) == 0 { // somebody has deleted them meanwhile
		return
	}
	if a.IntN(3) == 0 {
		a.do(c, "PUT "+on.path()+"/strategies/"+all[len(all)-1].ID, object{"sortOrder": all[0].SortOrder - 1})
		return
	}
	orders := []object{}
	for i, s := range all {
		orders = append(orders, object{"id": s.ID, "sortOrder": len(all) - i})
	}
	o := a.sendText(c, "POST "+on.path()+"/strategies/set-sort-order", string(encode(orders)))
	a.checkOneWrite(o)
	a.checkActivated(o, on, "has the order that was set", func(e toggle.Environment) bool {
		for i, s := range all {
			if j := e.Strategy(s.ID); j < 0 || int(e.Strategies[j].SortOrder) != len(all)-i {
				return false
			}
		}
		return true
	})
}
