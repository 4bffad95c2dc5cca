package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/dynamo"
)

var fieldNames = []string{"plan", "region", "device"}

// fieldState is what the world knows about context fields.
type fieldState struct {
	names  []string // that the actors compete for
	lowest int      // the lowest sort order that an actor has chosen
}

func (w *World) prepareFields(store *contextfield.Store) {
	for _, name := range w.fields.names {
		_, err := store.Create(context.Background(),
			contextfield.ContextField{Name: name, Description: new(""), Last: true})
		w.must(err)
		w.edit(observed(), "field", name, "put", edit{})
	}
}

func (a *actor) editField() {
	// Different ones compete for the last place.
	name := choose(a, choose(a, a.fields.names...), subject(a, a.fields.names...))
	c := choose(a, a.admin, a.api, a.editor)
	a.n++
	value := fmt.Sprintf("%s %d", a.name, a.n)
	kind := choose(a, "create", "replace", "replace", "delete", "delete", "read", "list", "compete", "place")
	switch kind {
	case "compete":
		a.competeForField(c, name)
		return
	case "place":
		a.competeForLastPlace(c, name, choose(a, a.fields.names...))
		return
	}
	if kind == "delete" {
		if unused := a.unusedField(); unused != "" {
			name = unused
		}
		a.meanwhile(func(b *actor) { b.putToggle(subject(b, b.toggles.names...), false, name) })
		e, match := a.readField(c, name)
		a.edit(a.do(c, "DELETE context/"+name, nil, match...), "field", name, kind, e)
		kind = choose(a, "create", "read") // at once, and with another clock
	}
	e := edit{change: object{"description": value}}
	if a.IntN(2) == 0 { // otherwise the last place
		a.fields.lowest -= 1000 // so that the default never is an order that an actor has chosen
		e.change["sortOrder"] = a.fields.lowest
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
				b.putToggle(subject(b, b.toggles.names...), false, name)
			}
		})
	}
	body := maps.Clone(e.change)
	switch a.IntN(4) {
	case 0: // its event is as large as it can be
		body["legalValues"] = manyValues(a.n)
	case 1:
		body["legalValues"] = []object{{"value": "1"}, {"value": "2"}}[a.IntN(2):]
	}
	switch kind {
	case "create":
		body["name"], e.change["name"] = name, name
		a.edit(a.do(c, "POST context", body), "field", name, kind, e)
	case "replace":
		a.edit(a.do(c, "PUT context/"+name, body, match...), "field", name, kind, e)
	case "read":
		a.getField(c, name)
	default:
		a.listFields(c)
	}
}

// competeForField replaces a field that somebody else replaces after it was read, and reads the result.
func (a *actor) competeForField(c *credential, name string) {
	seen, etag := a.getField(c, name)
	if etag == "" {
		return
	}
	a.beforeWrite(func(b *actor) { b.describeField(c, name, nil) })
	a.describeField(c, name, seen, etag)
	a.getField(c, name)
}

// competeForLastPlace moves two fields to the last place at the same time. Those that do not exist are created there.
func (a *actor) competeForLastPlace(c *credential, name, other string) {
	a.beforeWrite(func(b *actor) { b.placeLast(c, other) })
	a.placeLast(c, name)
}

func (a *actor) placeLast(c *credential, name string) {
	if slices.ContainsFunc(a.db.Items("ContextFields"), func(i dynamo.Item) bool { return i.String("name") == name }) {
		a.describeField(c, name, nil)
		return
	}
	a.n++
	e := edit{change: object{"name": name, "description": fmt.Sprintf("%s %d", a.name, a.n)}}
	a.edit(a.do(c, "POST context", e.change), "field", name, "create", e)
}

// describeField replaces the description of a field, which moves it to the last place.
func (a *actor) describeField(c *credential, name string, seen object, match ...string) {
	a.n++
	e := edit{seen: seen, change: object{"description": fmt.Sprintf("%s %d", a.name, a.n)}}
	a.edit(a.do(c, "PUT context/"+name, e.change, match...), "field", name, "replace", e)
}

// getField reads a field. If it exists, it returns what the ETag is of, and the ETag.
func (a *actor) getField(c *credential, name string) (seen object, etag string) {
	var e edit
	o := a.get(c, "context/"+name, &e.seen)
	a.edit(o, "field", name, "read", e)
	if !o.ok() {
		return nil, ""
	}
	return e.seen, o.etag
}

// restrictField leaves a context field one legal value.
func (a *actor) restrictField(name, value string) {
	a.n++
	e := edit{change: object{"description": fmt.Sprintf("%s %d", a.name, a.n)}}
	body := maps.Clone(e.change)
	body["legalValues"] = []object{{"value": value}}
	a.edit(a.do(a.admin, "PUT context/"+name, body), "field", name, "replace", e)
}

// unusedField returns a field that exists and that no toggle uses, or nothing.
func (w *World) unusedField() string {
	table := contextfield.ReferencesStore(nil, nil)
	for _, item := range w.db.Items("ContextFields") {
		field, ok := table.ResourceOf(item)
		if used, _ := references.FromItem(item); ok && len(used.ByProject) == 0 && slices.Contains(w.fields.names, field) {
			return field
		}
	}
	return ""
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
	seen, etag := a.getField(c, name)
	if etag == "" {
		return e, nil
	}
	return edit{seen: seen}, []string{etag}
}

func (a *actor) listFields(c *credential) {
	var all []object
	o := a.get(c, "context", &all)
	if !o.ok() {
		return
	}
	a.editListed(o, "field", a.fields.names, all, nil)
}

// checkFields compares the references to context fields with a recount of the toggles, and the fields with the items
// that contain their references. No two fields have the same sort order: those that actors choose are different.
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
	fieldReferences := contextfield.ReferencesStore(nil, nil)
	for _, item := range w.db.Items("ContextFields") {
		name := item.String("name")
		if contextfield.IsField(item) {
			existing = append(existing, name)
			if other := orders[item.Int("sortOrder")]; other != "" {
				w.fail("the fields %s and %s have the sort order %d", other, name, item.Int("sortOrder"))
			}
			orders[item.Int("sortOrder")] = name
		}
		if field, ok := fieldReferences.ResourceOf(item); ok {
			counted = append(counted, field)
			used, _ := references.FromItem(item)
			for project, n := range used.ByProject {
				stored[field+" in "+project] = n
			}
		}
	}
	if !maps.Equal(stored, recount) {
		w.fail("the references to the fields is %v, but toggles use them %v", stored, recount)
	}
	slices.Sort(existing)
	slices.Sort(counted)
	if !slices.Equal(existing, counted) {
		w.fail("the fields are %v, but the references to %v is stored", existing, counted)
	}
}
