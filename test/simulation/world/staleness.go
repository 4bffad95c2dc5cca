package world

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/featuretable"
)

// staleAfter is how long a re-evaluation can use a lifetime that was replaced, and clocks can differ.
const staleAfter = 5 * time.Second

// period is that of sweeps.
func (w *World) period() time.Duration { return meeting << w.random(8).IntN(4) }

// sweep re-evaluates all types, and checks the flags if nothing is left. It reports whether it did.
func (w *World) sweep() (done bool) {
	begun := time.Now()
	ctx, searches := withSearches()
	output, err := w.invoke(ctx, "sweep-staleness", []byte("{}"))
	if done = err == nil && bytes.HasSuffix(output, []byte(`"left":0}`)); done {
		w.turn(fmt.Sprint("sweep of ", begun))
		w.checkFlags(begun, searches, w.types.names...)
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

// typeReads are the times, by the clock of a process, when it got the responses to its reads of types, by their ids.
type typeReads struct{ first, last map[string]time.Time }

// readType remembers the read of a type.
func (p *process) readType(c *call) {
	id := c.typeID()
	if id == "" {
		return
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.types.first == nil {
		p.types = typeReads{map[string]time.Time{}, map[string]time.Time{}}
	}
	if p.types.first[id].IsZero() {
		p.types.first[id] = p.now()
	}
	p.types.last[id] = p.now()
}

// typeID returns the id of the type that the call reads, or nothing.
func (c *call) typeID() string {
	if c.name != "GetItem" || tableOf(string(c.body)) != "FeatureTypes" {
		return ""
	}
	_, id, _ := strings.Cut(string(c.body), `{"id":{"S":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// untilLifetimeEnds returns a latency of the read of a type if the lifetime of a toggle ends soon, otherwise 0. By the
// clock of the process, the response comes in the millisecond in which the lifetime ends, or in the one before or after.
func (c *call) untilLifetimeEnds() time.Duration {
	id := c.typeID()
	days := c.w.lifetime(id).days
	if id == "" || days == 0 || mix(c.w.Seed, c.key, 20)%4 == 0 {
		return 0
	}
	for _, item := range c.w.db.Items("Features") {
		ends := item.Time("createdAt").Add(time.Duration(days) * day).Sub(c.process.now())
		if item.String("type") == id && ends > 2*time.Millisecond && ends < responseTimeout {
			return ends + []time.Duration{-time.Millisecond, -1, 0, 0, time.Millisecond}[mix(c.w.Seed, c.key, 21)%5]
		}
	}
	return 0
}

// withSearches returns a context for the invocation of a re-evaluation, and the first times at which it searches toggles
// that are due. If the invocation is started twice, the clock that is behind decides: that run can be the one that
// responds.
func withSearches() (context.Context, map[string]time.Time) {
	t := &tracked{searches: map[string]time.Time{}}
	return context.WithValue(context.Background(), trackedKey{}, t), t.searches
}

// searched remembers a search for toggles that are due.
func (w *World) searched(c *call) {
	t := c.tracked()
	if t == nil || t.searches == nil || !c.isQuery() || bytes.Contains(c.body, []byte(`"ExclusiveStartKey"`)) {
		return
	}
	for _, id := range w.types.names {
		key := featuretable.StalenessKey(id, false, featuretable.Shard(toggleNames[0]))
		first := t.searches[id]
		if bytes.Contains(c.body, []byte(`"`+key+`"`)) && (first.IsZero() || c.sent.Before(first)) {
			t.searches[id] = c.sent
		}
	}
}

// decidedAt returns when, by its clock, the process of the call has decided a flag that it writes for a toggle of a
// type: not before it read the type, and not after it sent the transaction.
func (c *call) decidedAt(kind string) (earliest, latest time.Time) {
	earliest = c.process.types.first[kind]
	if c.ofFunction() && !c.reevaluates() { // it handles one toggle after the other
		earliest = c.process.types.last[kind]
	}
	return earliest, c.sent
}

// changesMany reports whether the call that is carried out has changed more than two toggles.
func (w *World) changesMany() bool {
	toggles := 0
	for _, c := range w.engine.changes {
		if c.table == "Features" {
			toggles++
		}
	}
	return toggles > 2
}

// flipped checks a flip when it is written: some lifetime of the type allows it. For a re-evaluation, it is one of the
// last five seconds, for others the current one.
func (w *World) flipped(c change) {
	was, is, kind := c.old.Bool("potentiallyStale"), c.next.Bool("potentiallyStale"), c.next.String("type")
	name, sameType, all := c.item.String("name"), c.old.String("type") == kind, w.types.lifetimes[kind]
	now, by := time.Now(), w.engine.caller.process.name
	reevaluated, since := w.engine.caller.reevaluates(), now
	// The write of others decides a flag only if it depends on the type.
	// That of many toggles can clear flags, and decide them again with other transactions.
	decided := c.next["staleness"] != nil && (c.old["staleness"] == nil || was != is || !sameType) && all != nil &&
		(is || !w.changesMany())
	if reevaluated {
		decided, since = was != is, now.Add(-staleAfter)
	}
	if decided {
		at, latest := w.engine.caller.decidedAt(kind)
		if is {
			at = latest
		}
		age, justified := at.Sub(*c.next.Time("createdAt")), false
		for i, l := range all {
			replaced := i+1 < len(all) && !all[i+1].from.After(since)
			justified = justified || !replaced && l.allows(is, age)
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
// this time and left nothing. searches are the times at which it has searched toggles that are due.
func (w *World) checkFlags(begun time.Time, searches map[string]time.Time, types ...string) {
	for _, item := range w.db.Items("Features") {
		name, current, flag := item.String("name"), w.lifetime(item.String("type")), item.Bool("potentiallyStale")
		if w.toggles.touched[name].After(begun.Add(-staleAfter)) || current.from.After(begun) ||
			!slices.Contains(types, item.String("type")) {
			continue
		}
		at := searches[item.String("type")]
		switch {
		case flag:
			at = time.Now().Add(staleAfter)
		case at.IsZero():
			at = begun.Add(-w.skew)
		}
		age := at.Sub(*item.Time("createdAt"))
		if item.Bool("archived") || item.Bool("stale") {
			current.days = 0
		}
		if !current.allows(flag, age) {
			w.fail("the flag of %s is %t after a run: its type %s has a lifetime of %d days, and its age is %s", name, flag,
				item.String("type"), current.days, age)
		}
	}
}
