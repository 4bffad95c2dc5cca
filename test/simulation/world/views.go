package world

import (
	"cmp"
	"encoding/json"
	"maps"
)

// saveViews replaces the saved views of the editor, often only those that it has read, while another actor does it too.
func (a *actor) saveViews() {
	view := func(name, query string) object { return object{"name": name, "query": query} }
	e := edit{change: object{"views": choose(a, []any{}, []any{view("a", "")},
		[]any{view("a", "type=IS:release"), view("b", "sortBy=name")})}}
	var match []string
	if a.IntN(3) > 0 {
		o := a.do(a.editor, "GET user/views", nil)
		if !o.ok() {
			return
		}
		a.decode(o, &e.seen)
		match = append(match, o.etag)
		a.edit(o, "views", "editor", "read", edit{seen: maps.Clone(e.seen)})
	}
	a.meanwhile((*actor).saveViews)
	o := a.do(a.editor, "PUT user/views", e.change, match...)
	if o.ok() || o.unknown || o.status == 412 {
		a.edit(o, "views", "editor", "put", e)
	}
}

// stepViews: the state is the views as JSON; empty: none were saved.
func stepViews(state string, o op) (bool, string) {
	var stored object
	if err := json.Unmarshal([]byte(cmp.Or(state, defaults[o.kind])), &stored); err != nil {
		panic(err)
	}
	same := shows(stored, o.edit.seen)
	switch {
	case o.name == "read":
		return same, state
	case shows(stored, o.edit.change): // nothing changes, whatever the ETag
		return o.unknown || o.status == 200, state
	case !same: // the ETag is of other views
		return o.unknown || o.status == 412, state
	}
	return o.unknown || o.status == 200, text(o.edit.change)
}
