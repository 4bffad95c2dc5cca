package world

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/toggle"
)

// crowdSize is more than the toggles that one transaction of a re-evaluation flips.
const crowdSize = stalenessindex.MaxFlips + 5

// crowdChanges is how often the crowd changes at most in a world, because each change makes hundreds of calls.
const crowdChanges = 4

// crowdState is what the world knows about the changes of the crowd.
type crowdState struct {
	begun   int       // the number of changes
	active  int       // of those that have not ended
	unclear time.Time // until then, one without a response can take effect
}

// crowdNames returns the names of the crowd, which have the shard of all toggles of the world.
var crowdNames = sync.OnceValue(func() (names []string) {
	for i := 0; len(names) < crowdSize; i++ {
		name := fmt.Sprint("crowd-", i)
		if featuretable.Shard(name) == featuretable.Shard(toggleNames[0]) {
			names = append(names, name)
		}
	}
	return names
})

var crowdActors = []string{"editor-12"}

// prepareCrowd creates the crowd, if an actor of the world changes it: toggles that become potentially stale together.
func (w *World) prepareCrowd(store *feature.Store, random *rand.Rand) {
	if !slices.ContainsFunc(crowdActors, w.acts) {
		return
	}
	kind := w.types.names[0]
	due := w.start.Add(within(random, duration/2)).Truncate(w.period())
	age := time.Duration(max(1, w.types.lifetimes[kind][0].days))*day - time.Until(due)
	for _, name := range crowdNames() {
		_, err := store.Create(context.Background(),
			toggle.Feature{Name: name, Project: "default", Type: kind, CreatedAt: time.Now().Add(-age)})
		w.must(err)
	}
}

// changeCrowd marks, archives or revives more toggles than one transaction can change with their flags, while the
// lifetime of their type changes.
func (a *actor) changeCrowd() {
	if a.crowd.begun == crowdChanges {
		return
	}
	a.crowd.begun++
	a.crowd.active++
	begun, alone := a.crowd.begun, a.crowd.active == 1 && time.Now().After(a.crowd.unclear)
	first := a.IntN(6)
	names := crowdNames()[first : first+choose(a, 33, 34, 40, stalenessindex.MaxFlips, stalenessindex.MaxFlips)-first]
	on := a.IntN(3) == 0
	if a.IntN(2) == 0 {
		a.meanwhile((*actor).changeLifetime)
	}
	var o *op
	shows := func(f *toggle.Feature) bool { return f.Stale == on }
	if a.IntN(3) > 0 {
		body := object{"features": names, "stale": on}
		o = a.do(choose(a, a.admin, a.api, a.editor), "POST projects/default/stale", body)
	} else {
		shows = func(f *toggle.Feature) bool { return f.Archived == on }
		action := map[bool]operator.Action{true: operator.Archive, false: operator.Revive}[on]
		o = a.command(fmt.Sprintf("features change %d archived %t", len(names), on), func(ctx context.Context) error {
			changes, err := a.operator.ChangeToggles(ctx, names, action)
			return cmp.Or(err, changes.Err())
		})
	}
	a.crowd.active--
	if o.unknown {
		a.crowd.unclear = time.Now().Add(time.Minute)
	}
	if o.ok() {
		a.checkChanged(o, names, shows)
	}
	if o.ok() && alone && a.crowd.begun == begun {
		a.checkDecided(o, names)
	}
}

// checkChanged checks that after a change of several toggles each had what the change sets, at some time of the change.
func (w *World) checkChanged(o *op, names []string, shows func(*toggle.Feature) bool) {
	for _, name := range names {
		if !w.was(o, name, shows) {
			w.fail("a change of %d toggles by %s succeeds, but %s is not changed", len(names), o.actor, name)
		}
	}
}

// checkDecided checks the flags of the toggles that a change has written, if no other one changed them.
func (w *World) checkDecided(o *op, names []string) {
	for _, name := range names {
		f := w.feature(name)
		current := w.lifetime(f.Type)
		if w.toggles.touched[name].Before(o.begun) || !current.from.Before(o.begun) {
			continue
		}
		at := o.begun.Add(-time.Minute)
		if f.PotentiallyStale {
			at = time.Now().Add(staleAfter)
		}
		if !f.CanBecomeStale() {
			current.days = 0
		}
		if age := at.Sub(f.CreatedAt); !current.allows(f.PotentiallyStale, age) {
			w.fail("the flag of %s is %t after a change of %d toggles by %s: its type %s has a lifetime of %d days, and its age"+
				" is %s", name, f.PotentiallyStale, len(names), o.actor, f.Type, current.days, age)
		}
	}
}
