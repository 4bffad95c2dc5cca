package protection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// TestEffects checks where a change of a toggle changes what applications get, and what of it only turns the toggle off.
// The toggle is on in a, off with strategies in b, and has no state in c.
func TestEffects(t *testing.T) {
	t.Parallel()
	strategy := func(id string) toggle.Strategy { return toggle.Strategy{ID: id, Name: "default"} }
	toggled := func(changes ...func(*toggle.Feature)) toggle.Feature {
		f := toggle.Feature{Name: "f", Project: "p", Type: "release", Environments: map[string]toggle.Environment{
			"a": {Enabled: true, Strategies: []toggle.Strategy{strategy("1"), strategy("2")}},
			"b": {Strategies: []toggle.Strategy{strategy("3")}},
		}}
		for _, change := range changes {
			change(&f)
		}
		return f.Normalized()
	}
	in := func(name string, e toggle.Environment) func(*toggle.Feature) {
		return func(f *toggle.Feature) { f.SetEnvironment(name, e) }
	}
	off := in("a", toggle.Environment{Strategies: toggled().Environments["a"].Strategies})
	archived := func(f *toggle.Feature) { f.Archived = true }
	moved := func(f *toggle.Feature) { f.Project = "q" }
	dependent := func(f *toggle.Feature) { f.Dependency = &toggle.Dependency{Feature: "parent", Enabled: true} }
	none := toggle.Feature{}
	for _, test := range []struct {
		name      string
		old, next toggle.Feature
		want      string
	}{
		{"nothing", toggled(), toggled(), ""},
		{"record", toggled(), toggled(func(f *toggle.Feature) {
			f.Type, f.Stale, f.ImpressionData, f.Description = "kill-switch", true, true, new("d")
		}), ""},
		{"flag", toggled(), toggled(func(f *toggle.Feature) { f.PotentiallyStale = true }), ""},
		{"child", toggled(), toggled(func(f *toggle.Feature) { f.Children = []string{"child"} }), ""},
		{"off", toggled(), toggled(off), "a state off"},
		{"on", toggled(off), toggled(), "a state"},
		{"on for the first time", toggled(), toggled(in("c", toggle.Environment{Enabled: true})), "c state"},
		{"strategy removed", toggled(), toggled(in("a", toggle.Environment{Enabled: true,
			Strategies: []toggle.Strategy{strategy("1")}})), "a state"},
		{"off with its strategies", toggled(), toggled(in("a", toggle.Environment{})), "a state"},
		{"order", toggled(), toggled(in("a", toggle.Environment{Enabled: true,
			Strategies: []toggle.Strategy{strategy("2"), {ID: "1", Name: "default", SortOrder: 1}}})), "a state"},
		{"strategy of a toggle that is off", toggled(), toggled(in("b", toggle.Environment{
			Strategies: []toggle.Strategy{strategy("4")}})), "b state"},
		{"two environments", toggled(), toggled(off, in("c", toggle.Environment{Strategies: []toggle.Strategy{strategy("5")}})),
			"a state off, c state"},
		{"archived", toggled(), toggled(archived), "a whole"},
		{"archived, off everywhere", toggled(off), toggled(off, archived), ""},
		{"revived as it was", toggled(archived), toggled(), "a whole"},
		{"revived, off everywhere", toggled(archived), toggled(off), ""},
		{"archived, turned off", toggled(archived), toggled(archived, off), ""},
		{"archived, strategies changed", toggled(archived), toggled(archived, in("b", toggle.Environment{})), "b state"},
		{"moved", toggled(), toggled(moved), "a whole [p q]"},
		{"moved, off everywhere", toggled(off), toggled(off, moved), ""},
		{"archived and moved", toggled(archived), toggled(archived, moved), ""},
		{"dependency", toggled(), toggled(dependent), "a whole"},
		{"dependency removed", toggled(dependent), toggled(), "a whole"},
		{"dependency, off everywhere", toggled(off), toggled(off, dependent), ""},
		{"off with a dependency", toggled(), toggled(off, dependent), "a state whole"},
		{"created on", none, toggled(), "a whole"},
		{"created off", none, toggled(off), ""},
		{"deleted", toggled(archived), none, ""},
		{"deleted while it is on", toggled(), none, "a whole"},
	} {
		var all []string
		for _, e := range protection.EffectsOf(test.old, test.next) {
			text := e.Environment
			if e.State {
				text += " state"
			}
			if e.Whole {
				text += " whole"
			}
			if e.TurnsOff {
				text += " off"
			}
			if !slices.Equal(e.Projects, []string{"p"}) {
				text += fmt.Sprint(" ", e.Projects)
			}
			all = append(all, text)
		}
		assert.Equal(t, fmt.Sprint(test.name, ": ", test.want), fmt.Sprint(test.name, ": ", strings.Join(all, ", ")))
	}
}
