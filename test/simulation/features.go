package simulation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// edit is what an operation on a record has to do with it: a toggle, a context field, or an answer to a questionnaire.
type edit struct {
	project string         // of the path; empty: none
	seen    map[string]any // members that the response has, or that the ETag of an update is of; nil: none
	change  map[string]any
}

// editToggle does what the console does with toggles.
func (a *actor) editToggle() {
	name, project := subject(a, a.toggles...), choose(a, "default", "default", "shop")
	path := togglePath(name, project)
	c := choose(a, a.admin, a.api, a.editor)
	on := a.IntN(2) == 0
	switch a.IntN(9) {
	case 0:
		e := edit{project: project, change: map[string]any{"project": project, "type": choose(a, a.types...)}}
		body := fmt.Sprintf(`{"name":%q,"type":%q}`, name, e.change["type"])
		a.edit(a.do(c, http.MethodPost, "projects/"+project+"/features", body), "toggle", name, "create", e)
	case 1, 2, 7:
		a.updateToggle(c, name, project)
	case 3:
		a.edit(a.do(c, http.MethodDelete, path, ""), "toggle", name, "archive",
			edit{project: project, change: map[string]any{"archived": true}})
	case 4:
		a.markToggles(c, name, project, on)
	case 5:
		a.edit(a.do(c, http.MethodPost, "archive/revive/"+name, ""), "toggle", name, "revive",
			edit{change: map[string]any{"archived": false}})
	case 6:
		a.edit(a.do(c, http.MethodDelete, "archive/"+name, ""), "toggle", name, "remove", edit{})
	default:
		a.searchToggles(c, on)
	}
}

func togglePath(name, project string) string { return "projects/" + project + "/features/" + name }

// readToggle gets a toggle.
func (a *actor) readToggle(c *credential, name, project string) (*op, edit) {
	e := edit{project: project}
	o := a.get(c, togglePath(name, project), &e.seen)
	only(e.seen, "project", "type", "description", "archived", "stale", "contextFields")
	a.edit(o, "toggle", name, "read", e)
	return o, e
}

// updateToggle reads a toggle, and changes it most of the time only if it is as it was read.
func (a *actor) updateToggle(c *credential, name, project string) {
	o, e := a.readToggle(c, name, project)
	if !o.ok() {
		return
	}
	match := []string{o.etag}
	a.meanwhile((*actor).editToggle)
	a.n++
	e.change = choose(a, map[string]any{"type": choose(a, a.types...)}, map[string]any{"stale": a.IntN(2) == 0},
		map[string]any{"description": fmt.Sprint(a.name, " ", a.n)},
		map[string]any{"description": fmt.Sprint(a.name, " again ", a.n)})
	only(e.seen, "type", "description", "stale")
	if a.IntN(4) == 0 {
		e.seen, match = nil, nil
	}
	o = a.do(c, http.MethodPut, togglePath(name, project), text(e.change), match...)
	a.edit(o, "toggle", name, "update", e)
	if o.ok() && !shows(a.members(o), e.change) {
		a.fail("an update of %s to %v returns %s", name, e.change, o.response)
	}
}

// markToggles marks one or two toggles together.
func (a *actor) markToggles(c *credential, name, project string, stale bool) {
	names := []string{name}
	if other := choose(a, a.toggles...); other != name {
		names = append(names, other)
	}
	o := a.do(c, http.MethodPost, "projects/"+project+"/stale", text(map[string]any{"features": names, "stale": stale}))
	if o.status == http.StatusNotFound && len(names) > 1 {
		return // it is not known here which one
	}
	for _, name := range names {
		a.edit(o, "toggle", name, "mark", edit{project: project, change: map[string]any{"stale": stale}})
	}
}

// searchToggles lists all toggles that are archived, or the others.
func (a *actor) searchToggles(c *credential, archived bool) {
	var found struct {
		Features []map[string]any
		Total    int
	}
	o := a.get(c, fmt.Sprintf("search/features?archived=IS:%t", archived), &found)
	if !o.ok() {
		return
	}
	if found.Total != len(found.Features) {
		a.fail("a search returns %d of %d toggles", len(found.Features), found.Total)
	}
	seen := map[string]map[string]any{}
	for _, f := range found.Features {
		if seen[fmt.Sprint(f["name"])] = f; f["archived"] != archived {
			a.fail("a search for archived toggles: %t, returns %v", archived, f)
		}
	}
	for _, name := range a.toggles {
		if seen[name] != nil {
			a.edit(o, "toggle", name, "read", edit{seen: only(seen[name], "project", "type", "description", "archived", "stale")})
		} else { // it is not there, or not in this state
			a.edit(o, "toggle", name, "miss", edit{seen: map[string]any{"archived": archived}})
		}
	}
}

func (w *World) decode(o *op, into any) {
	if err := json.Unmarshal([]byte(o.response), into); err != nil {
		w.fail("a response is not valid: %v: %s", err, o.response)
	}
}

// members returns the members of a response.
func (w *World) members(o *op) (all map[string]any) {
	w.decode(o, &all)
	return all
}

// only returns an object without the other members.
func only(object map[string]any, names ...string) map[string]any {
	maps.DeleteFunc(object, func(name string, _ any) bool { return !slices.Contains(names, name) })
	return object
}

// edit records an operation on a record.
func (w *World) edit(o *op, kind, object, name string, e edit) {
	o.edit = e
	w.record(o, kind, object, name, e)
}
