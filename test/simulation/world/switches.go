package world

import (
	"fmt"
	"net/http"
	"reflect"

	"toggleadmin/pkg/toggle"
)

// switchToggle turns toggles on and off, and reads where they are on.
func (a *actor) switchToggle() {
	on := a.activated()
	c := choose(a, a.admin, a.api, a.editor)
	switch a.IntN(10) {
	case 0, 1:
		a.switchToggles(c, on)
	case 2, 3, 4:
		a.meanwhile((*actor).editStrategies)
		query := choose(a, "", "", "?shouldActivateDisabledStrategies=true")
		o := a.do(c, "POST "+on.path()+"/on"+query, nil)
		a.checkActivated(o, on, "is on", func(e toggle.Environment) bool { return e.Enabled })
	case 5:
		a.meanwhile((*actor).editStrategies)
		o := a.do(c, "POST "+on.path()+"/off", nil)
		a.checkActivated(o, on, "is off", func(e toggle.Environment) bool { return !e.Enabled })
	case 6:
		a.readActivation(c, on)
	case 7, 8:
		a.searchByActivation(c)
	default:
		a.raceForLastStrategy(c, on)
	}
}

// switchToggles turns two toggles of a project on or off together, sometimes while one of them is archived.
func (a *actor) switchToggles(c *credential, on activated) {
	other := on
	for _, name := range a.toggles.names {
		if f := a.feature(name); f != nil && f.Project == on.project && (other == on || a.IntN(2) == 0) {
			other.name = name
		}
	}
	state := choose(a, "on", "off")
	archives := a.IntN(4) == 0
	if archives {
		a.beforeWrite(func(b *actor) {
			b.edit(b.do(c, "DELETE "+togglePath(other.name, other.project), nil), "toggle", other.name, "archive",
				edit{project: other.project, change: object{"archived": true}})
		})
	} else {
		a.meanwhile((*actor).editStrategies)
	}
	request := fmt.Sprintf("POST projects/%s/bulk_features/environments/%s/%s", on.project, on.environment, state)
	o := a.do(c, request, object{"features": []string{on.name, other.name}})
	a.checkOneWrite(o)
	for _, one := range []activated{on, other} {
		if o.ok() {
			a.checkActivated(o, one, "is "+state, func(e toggle.Environment) bool { return e.Enabled == (state == "on") })
		}
	}
	if archives {
		a.edit(a.do(c, "POST archive/revive/"+other.name, nil), "toggle", other.name, "revive",
			edit{change: object{"archived": false}})
	}
}

// checkOneWrite checks that a request changes all that it is about in one call, or nothing if it is rejected.
func (w *World) checkOneWrite(o *op) {
	if o.states > 1 || o.states == 1 && o.status/100 == http.StatusBadRequest/100 {
		w.fail("%d calls of a request of %s change toggles, and its status is %d: %s", o.states, o.actor, o.status, o.response)
	}
}

func (a *actor) readActivation(c *credential, on activated) {
	var out toggle.Environment
	o := a.get(c, on.path(), &out)
	a.checkActivated(o, on, "is as the response says", func(e toggle.Environment) bool {
		return out.Enabled == e.Enabled && len(out.Strategies) == len(e.Strategies) &&
			(len(e.Strategies) == 0 || reflect.DeepEqual(out.Strategies, e.Strategies))
	})
}
