package protection

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"toggleadmin/pkg/toggle"
)

// Effect is what a change of a toggle changes of what applications get in an environment, or can get there when the
// toggle is turned on.
type Effect struct {
	Environment string

	// State: it changes the switch or the strategies. The events of these changes have the environment.
	State bool
	// Whole: it creates, archives, revives, deletes or moves a toggle that is on, or changes its dependency. The events of
	// these changes have no environment.
	Whole bool
	// TurnsOff: it changes nothing but the switch, from on to off.
	TurnsOff bool

	// Projects are the project of the toggle before and after the change, each once.
	Projects []string
}

// Places returns where the effect is.
func (e Effect) Places() []Place {
	all := make([]Place, len(e.Projects))
	for i, project := range e.Projects {
		all[i] = Place{project, e.Environment}
	}
	return all
}

// EffectsOf returns the effects of a change from old to next, ordered by environment. A toggle without a Name does not
// exist. The record of the toggle, such as its type and whether it is stale, has no effect.
func EffectsOf(old, next toggle.Feature) (all []Effect) {
	environments := maps.Clone(old.Environments)
	if environments == nil {
		environments = map[string]toggle.Environment{}
	}
	maps.Copy(environments, next.Environments)
	projects := slices.Compact([]string{cmp.Or(old.Project, next.Project), cmp.Or(next.Project, old.Project)})
	exist := old.Name != "" && next.Name != ""
	for _, name := range slices.Sorted(maps.Keys(environments)) {
		before, after := old.Environments[name], next.Environments[name]
		wasOn, isOn := isOn(old, name), isOn(next, name)
		sameStrategies := len(before.Strategies) == 0 && len(after.Strategies) == 0 ||
			reflect.DeepEqual(before.Strategies, after.Strategies)
		e := Effect{Environment: name, Projects: projects}
		e.State = exist && (!sameStrategies ||
			before.Enabled != after.Enabled && !old.Archived && !next.Archived)
		e.Whole = (wasOn || isOn) && (!exist || old.Archived != next.Archived || old.Project != next.Project ||
			!reflect.DeepEqual(old.Dependency, next.Dependency))
		e.TurnsOff = e.State && !e.Whole && sameStrategies && wasOn && !isOn
		if e.State || e.Whole {
			all = append(all, e)
		}
	}
	return all
}

// isOn reports whether applications get a toggle that is on in an environment.
func isOn(f toggle.Feature, environment string) bool {
	return f.Name != "" && !f.Archived && f.Environments[environment].Enabled
}
