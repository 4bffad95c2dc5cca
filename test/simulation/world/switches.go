package world

import (
	"reflect"

	"toggleadmin/pkg/toggle"
)

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

func (a *actor) readActivation(c *credential, on activated) {
	var out toggle.Environment
	o := a.get(c, on.path(), &out)
	a.checkActivated(o, on, "is as the response says", func(e toggle.Environment) bool {
		return out.Enabled == e.Enabled && len(out.Strategies) == len(e.Strategies) &&
			(len(e.Strategies) == 0 || reflect.DeepEqual(out.Strategies, e.Strategies))
	})
}
