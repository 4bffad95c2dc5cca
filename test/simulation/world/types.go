package world

import (
	"context"
	"math/rand/v2"
	"time"

	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/toggle"
)

var typeNames = []string{"release", "operational"}

// typeState is what the world knows about feature toggle types.
type typeState struct {
	names     []string              // that the actors compete for
	written   map[string]time.Time  // the last writes
	lifetimes map[string][]lifetime // in their order
}

func (w *World) prepareTypes(store *featuretype.Store, random *rand.Rand) {
	for i, id := range w.types.names {
		lifetime := []*int64{nil, new(int64(1)), new(int64(1)), new(int64(7))}[random.IntN(4)]
		w.must(store.Create(context.Background(), toggle.Type{ID: id, Position: int64(i), LifetimeDays: lifetime}))
	}
}

func (a *actor) changeLifetime() {
	id := subject(a, a.types.names...)
	switch a.IntN(8) {
	case 0, 1:
		a.listTypes(a.admin)
		return
	case 2:
		a.moveFlagged(a.admin)
		return
	}
	a.meanwhile((*actor).changeToggle)
	a.setLifetime(choose(a, a.admin, a.api), id, choose(a, 0, 1, 1, 7, 40))
}

func (a *actor) setLifetime(c *credential, id string, days int) {
	o := a.do(c, "PUT feature-types/"+id+"/lifetime", object{"lifetimeDays": days})
	a.record(o, "type", id, "set", days)
	if o.ok() && a.types.written[id].Before(o.begun) {
		a.fail("%s sets the lifetime of %s, but its item was not written, so that its toggles are not re-evaluated", a.name,
			id)
	}
}

func (a *actor) listTypes(c *credential) {
	var out struct {
		Types []struct {
			ID           string
			LifetimeDays int64
		}
	}
	o := a.get(c, "feature-types", &out)
	for _, t := range out.Types {
		a.record(o, "type", t.ID, "get", t.LifetimeDays)
	}
}

// stepValue: the state is the value; empty: unknown.
func stepValue(state string, o op) (bool, string) {
	return o.name == "set" || state == "" || state == o.value, o.value
}

// lifetime is the lifetime of a type from a time on.
type lifetime struct {
	days int64 // 0: none
	from time.Time
}

// allows reports whether a toggle of an age has the flag.
func (l lifetime) allows(flag bool, age time.Duration) bool {
	lasts := time.Duration(l.days) * day
	return flag == (lasts > 0 && age >= lasts)
}

// lifetime returns the current lifetime of a type.
func (w *World) lifetime(id string) (current lifetime) {
	for _, current = range w.types.lifetimes[id] {
	}
	return current
}

func (w *World) changedType(c change) {
	id, days := c.item.String("id"), c.next.Int("lifetimeDays")
	w.types.written[id] = time.Now()
	if len(w.types.lifetimes[id]) == 0 || w.lifetime(id).days != days {
		w.types.lifetimes[id] = append(w.types.lifetimes[id], lifetime{days, time.Now()})
	}
}
