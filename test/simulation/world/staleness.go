package world

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// staleAfter is how long a re-evaluation can use a lifetime that was replaced, and clocks can differ.
const staleAfter = 5 * time.Second

// period is that of sweeps.
func (w *World) period() time.Duration { return meeting << w.random(8).IntN(4) }

// sweep re-evaluates all types, and checks the flags if nothing is left. It reports whether it did.
func (w *World) sweep() (done bool) {
	begun := time.Now()
	output, err := w.invoke("sweep-staleness", []byte("{}"))
	if done = err == nil && bytes.HasSuffix(output, []byte(`"left":0}`)); done {
		w.turn(fmt.Sprint("sweep of ", begun))
		w.checkFlags(begun, w.types.names...)
	}
	return done
}

// flips reports whether the flag of a toggle is likely to change at this time.
func (w *World) flips(name string) bool {
	return time.Since(w.toggles.due[name]).Abs() < meeting/2 || slices.ContainsFunc(w.types.names, func(id string) bool {
		return len(w.types.lifetimes[id]) > 1 && time.Since(w.lifetime(id).from) < time.Second
	})
}

// reevaluates reports whether the call is part of a re-evaluation.
func (c *call) reevaluates() bool { return strings.Contains(c.process.name, "staleness") }

// flipped checks a flip when it is written: some lifetime of the type allows it. For a re-evaluation, it is one of the
// last five seconds, for others the current one.
func (w *World) flipped(c change) {
	was, is, kind := c.old.Bool("potentiallyStale"), c.next.Bool("potentiallyStale"), c.next.String("type")
	name, sameType, all := c.item.String("name"), c.old.String("type") == kind, w.types.lifetimes[kind]
	now, by := time.Now(), w.engine.caller.process.name
	reevaluated, since, late := w.engine.caller.reevaluates(), now, time.Minute
	// The write of others decides a flag only if it depends on the type.
	decided := c.next["staleness"] != nil && (c.old["staleness"] == nil || was != is || !sameType) && all != nil
	if reevaluated {
		decided, since, late = was != is, now.Add(-staleAfter), staleAfter
	}
	if decided {
		age, justified := now.Sub(*c.next.Time("createdAt")), false
		if !w.engine.caller.ofFunction() && is {
			age += w.skew * (operatorSkews - 1)
		}
		for i, l := range all {
			replaced := i+1 < len(all) && !all[i+1].from.After(since)
			justified = justified || !replaced && l.allows(is, age, late)
		}
		if !justified {
			w.fail("%s sets the flag of %s to %t, but the lifetime is %d days, and the age %s", by, name, is,
				w.lifetime(kind).days, age)
		}
	}
	if was == is {
		return
	}
	if reevaluated && was && sameType && !w.lifetime(kind).from.After(w.toggles.flippedAt[name].Add(-staleAfter)) {
		w.fail("%s clears the flag of %s because of a changed lifetime, but it has not changed since the flag was set", by,
			name)
	}
	w.toggles.flippedAt[name] = now
}

// checkFlags checks that the flags of toggles are what types and ages say, after a run for these types that began at
// this time and left nothing.
func (w *World) checkFlags(begun time.Time, types ...string) {
	for _, item := range w.db.Items("Features") {
		name, current, flag := item.String("name"), w.lifetime(item.String("type")), item.Bool("potentiallyStale")
		if w.toggles.touched[name].After(begun.Add(-staleAfter)) || current.from.After(begun) ||
			!slices.Contains(types, item.String("type")) {
			continue
		}
		age := begun.Sub(*item.Time("createdAt"))
		if flag {
			age += time.Since(begun) + staleAfter
		}
		if item.Bool("archived") || item.Bool("stale") {
			current.days = 0
		}
		if !current.allows(flag, age, w.skew) {
			w.fail("the flag of %s is %t after a run: its type %s has a lifetime of %d days, and its age is %s", name, flag,
				item.String("type"), current.days, age)
		}
	}
}
