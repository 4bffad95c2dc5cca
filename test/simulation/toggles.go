package simulation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/operator"
)

func (a *actor) changeToggle() { a.changeOne(subject(a, a.toggles...)) }

func (a *actor) changeOne(name string) {
	on := a.IntN(2) == 0
	switch n := a.IntN(6); {
	case a.flips(name) && n < 2 || n == 0 && a.IntN(4) == 0: // otherwise there would soon be no old ones
		a.operate("delete", name, nil, func(ctx context.Context) error {
			return a.operator.DeleteToggle(ctx, name)
		})
		a.putToggle(name, false)
	case n < 4:
		a.putToggle(name, on)
	default:
		property, actions := "stale", map[bool]operator.Action{true: operator.MarkStale, false: operator.UnmarkStale}
		if n == 5 {
			property, actions = "archived", map[bool]operator.Action{true: operator.Archive, false: operator.Revive}
		}
		a.operate("change", name, object{property: on}, func(ctx context.Context) error {
			changes, err := a.operator.ChangeToggles(ctx, []string{name}, actions[on])
			return cmp.Or(err, changes.Err())
		})
	}
}

func errorOf[T any](_ T, _ bool, err error) error { return err }

// flips reports whether the flag of a toggle is likely to change at this time.
func (w *World) flips(name string) bool {
	return time.Since(w.due[name]).Abs() < meeting/2 || slices.ContainsFunc(w.types, func(id string) bool {
		return len(w.lifetimes[id]) > 1 && time.Since(w.lifetime(id).from) < time.Second
	})
}

// putToggle creates or changes a toggle, sometimes its type, and its use of some of the fields.
func (a *actor) putToggle(name string, kind bool, fields ...string) {
	change := operator.ToggleChange{Project: new(choose(a, "default", "shop"))}
	value := object{"project": *change.Project}
	if kind {
		change.Type = new(choose(a, a.types...))
		value["type"] = *change.Type
	}
	if fields == nil && a.IntN(2) == 0 {
		fields = []string{subject(a, a.fields...)}[:a.IntN(2)]
	}
	if fields != nil {
		change.ContextFields, value["contextFields"] = &fields, fields
	}
	a.operate("put", name, value, func(ctx context.Context) error {
		_, _, _, err := a.operator.PutToggle(ctx, name, change)
		return err
	})
}

// operate runs a command about a toggle. What it has created can be deleted before it has read it.
func (a *actor) operate(kind, name string, change object, run func(context.Context) error) {
	o := a.command(fmt.Sprintf("features %s %s %v", kind, name, change), run)
	if o.ok() || o.unknown || kind == "put" {
		o.unknown = !o.ok()
		a.edit(o, "toggle", name, kind, edit{change: change})
	}
}

// answer updates the feedback of the editor, sometimes as an Admin, while the editor updates it too.
func (a *actor) answer() {
	given := fmt.Sprintf("2026-01-01T00:00:00.%03dZ", a.IntN(1000))
	change := choose(a, object{"neverShow": a.IntN(2) == 0}, object{"given": nil},
		object{"neverShow": true, "given": given})
	c := a.editor
	if a.IntN(2) == 0 {
		c, change["userId"] = a.admin, a.editor.account
	}
	o := a.do(c, "PUT feedback/survey", change)
	e := edit{change: change}
	if o.ok() {
		a.decode(o, &e.seen)
	}
	if o.ok() || o.unknown {
		a.edit(o, "feedback", "survey", "put", e)
	}
}

// checkFields compares the usage of context fields with a recount of the toggles, and the fields with the items that
// contain their usage. No two fields have the same sort order: those that actors choose are different.
func (w *World) checkFields() {
	recount, stored := map[string]int64{}, map[string]int64{} // by field and project
	for _, toggle := range w.db.Items("Features") {
		for _, field := range toggle.Strings("contextFields") {
			if !toggle.Bool("archived") {
				recount[field+" in "+toggle.String("project")]++
			}
		}
	}
	var existing, counted []string
	orders := map[int64]string{}
	for _, item := range w.db.Items("ContextFields") {
		name := item.String("name")
		if contextfield.IsField(item) {
			existing = append(existing, name)
			if other := orders[item.Int("sortOrder")]; other != "" {
				w.fail("the fields %s and %s have the sort order %d", other, name, item.Int("sortOrder"))
			}
			orders[item.Int("sortOrder")] = name
		}
		if field, ok := contextfield.FieldOfUsage(item); ok {
			counted = append(counted, field)
			usage := item.Map("usage")
			for project := range usage {
				stored[field+" in "+project] = usage.Int(project)
			}
		}
	}
	if !maps.Equal(stored, recount) {
		w.fail("the usage of the fields is %v, but toggles use them %v", stored, recount)
	}
	slices.Sort(existing)
	slices.Sort(counted)
	if !slices.Equal(existing, counted) {
		w.fail("the fields are %v, but the usage of %v is stored", existing, counted)
	}
}

// checkFlags checks that the flags of toggles are what types and ages say, after a run for these types that began at this
// time and left nothing.
func (w *World) checkFlags(begun time.Time, types ...string) {
	for _, item := range w.db.Items("Features") {
		name, current, flag := item.String("name"), w.lifetime(item.String("type")), item.Bool("potentiallyStale")
		if w.touched[name].After(begun.Add(-staleAfter)) || current.from.After(begun) ||
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

func (a *actor) editField() {
	name := choose(a, choose(a, a.fields...), subject(a, a.fields...)) // different ones compete for the last place
	c := choose(a, a.admin, a.api, a.editor)
	a.n++
	value := fmt.Sprintf("%s %d", a.name, a.n)
	kind := choose(a, "create", "replace", "delete", "read", "list")
	if kind == "delete" {
		a.meanwhile(func(b *actor) { b.putToggle(subject(b, b.toggles...), false, name) })
		e, match := a.readField(c, name)
		a.edit(a.do(c, "DELETE context/"+name, nil, match...), "field", name, kind, e)
		kind = choose(a, "create", "read") // at once, and with another clock
	}
	e := edit{change: object{"description": value}}
	if a.IntN(2) == 0 { // otherwise the last place
		a.lowest -= 1000 // so that the default never is an order that an actor has chosen
		e.change["sortOrder"] = a.lowest
	}
	var match []string
	if kind == "replace" {
		var read edit
		read, match = a.readField(c, name)
		e.seen = read.seen
	}
	if kind == "create" || kind == "replace" {
		a.meanwhile(func(b *actor) {
			if b.IntN(2) == 0 {
				b.editField()
			} else {
				b.putToggle(subject(b, b.toggles...), false, name)
			}
		})
	}
	body := maps.Clone(e.change)
	if a.IntN(2) == 0 { // its event is as large as it can be
		body["legalValues"] = manyValues(a.n)
	}
	switch kind {
	case "create":
		body["name"], e.change["name"] = name, name
		a.edit(a.do(c, "POST context", body), "field", name, kind, e)
	case "replace":
		a.edit(a.do(c, "PUT context/"+name, body, match...), "field", name, kind, e)
	case "read":
		e = edit{}
		o := a.get(c, "context/"+name, &e.seen)
		a.edit(o, "field", name, kind, e)
	default:
		a.listFields(c)
	}
}

// manyValues returns legal values of characters that JSON can escape.
func manyValues(n int) (all []object) {
	for i := range 50 {
		all = append(all, object{"value": fmt.Sprint(n, "-", i, strings.Repeat("<", 240))})
	}
	return all
}

// readField sometimes reads a field, and returns what the next operation requires of it, and the If-Match that says so.
func (a *actor) readField(c *credential, name string) (e edit, match []string) {
	if a.IntN(2) == 0 {
		return e, nil
	}
	o := a.get(c, "context/"+name, &e.seen)
	a.edit(o, "field", name, "read", e)
	if !o.ok() {
		return edit{}, nil
	}
	return e, []string{o.etag}
}

func (a *actor) listFields(c *credential) {
	var all []object
	o := a.get(c, "context", &all)
	if !o.ok() {
		return
	}
	a.editListed(o, "field", a.fields, all, nil)
}
