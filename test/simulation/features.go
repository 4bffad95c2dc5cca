package simulation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// object is an object of JSON.
type object = map[string]any

// edit is what an operation reads and changes of a record: a toggle, a context field, or an answer to a questionnaire.
type edit struct {
	project string // of the path; empty: none
	seen    object // members that the response has, or that the ETag of an update is of; nil: none
	change  object
}

// editToggle does what the console does with toggles.
func (a *actor) editToggle() {
	name, project := subject(a, a.toggles...), choose(a, "default", "default", "shop")
	c := choose(a, a.admin, a.api, a.editor)
	on := a.IntN(2) == 0
	switch a.IntN(9) {
	case 0:
		e := edit{project: project, change: object{"project": project, "type": choose(a, a.types...)}}
		body := object{"name": name, "type": e.change["type"]}
		a.edit(a.do(c, "POST projects/"+project+"/features", body), "toggle", name, "create", e)
	case 1, 2, 7:
		a.updateToggle(c, name, project)
	case 3:
		a.edit(a.do(c, "DELETE "+togglePath(name, project), nil), "toggle", name, "archive",
			edit{project: project, change: object{"archived": true}})
	case 4:
		a.markToggles(c, name, project, on)
	case 5:
		a.edit(a.do(c, "POST archive/revive/"+name, nil), "toggle", name, "revive", edit{change: object{"archived": false}})
	case 6:
		a.edit(a.do(c, "DELETE archive/"+name, nil), "toggle", name, "remove", edit{})
	default:
		a.searchToggles(c, on)
	}
}

func togglePath(name, project string) string { return "projects/" + project + "/features/" + name }

// updateToggle reads a toggle, and changes it most of the time only if it is as it was read.
func (a *actor) updateToggle(c *credential, name, project string) {
	e := edit{project: project}
	o := a.get(c, togglePath(name, project), &e.seen)
	a.edit(o, "toggle", name, "read", e)
	if !o.ok() {
		return
	}
	match := []string{o.etag}
	a.meanwhile((*actor).editToggle)
	a.n++
	description := object{"description": fmt.Sprint(a.name, " ", a.n)}
	e.change = choose(a, object{"type": choose(a, a.types...)}, object{"stale": a.IntN(2) == 0}, description, description)
	e.seen = object{"type": e.seen["type"], "description": e.seen["description"], "stale": e.seen["stale"]}
	if a.IntN(4) == 0 {
		e.seen, match = nil, nil
	}
	a.edit(a.do(c, "PUT "+togglePath(name, project), e.change, match...), "toggle", name, "update", e)
}

// markToggles marks one or two toggles together.
func (a *actor) markToggles(c *credential, name, project string, stale bool) {
	names := []string{name}
	if other := choose(a, a.toggles...); other != name {
		names = append(names, other)
	}
	o := a.do(c, "POST projects/"+project+"/stale", object{"features": names, "stale": stale})
	if o.status == http.StatusNotFound && len(names) > 1 {
		return // it is not known here which one
	}
	for _, name := range names {
		a.edit(o, "toggle", name, "mark", edit{project: project, change: object{"stale": stale}})
	}
}

// searchToggles lists all toggles that are archived, or the others.
func (a *actor) searchToggles(c *credential, archived bool) {
	var found struct {
		Features []object
		Total    int
	}
	o := a.get(c, fmt.Sprintf("search/features?archived=IS:%t", archived), &found)
	if !o.ok() {
		return
	}
	if found.Total != len(found.Features) {
		a.fail("a search lacks toggles: %s", o.response)
	}
	a.editListed(o, "toggle", a.toggles, found.Features, object{"archived": archived})
}

// editListed records what a list contains of some records, which have the members that it selects. Those that it lacks
// do not exist, or do not have these members.
func (a *actor) editListed(o *op, kind string, names []string, listed []object, selected object) {
	for _, name := range names {
		if i := slices.IndexFunc(listed, func(r object) bool { return r["name"] == name }); i >= 0 {
			if !shows(listed[i], selected) {
				a.fail("a list of what has %v contains %v", selected, listed[i])
			}
			a.edit(o, kind, name, "read", edit{seen: listed[i]})
		} else {
			a.edit(o, kind, name, "miss", edit{seen: selected})
		}
	}
}

func (w *World) decode(o *op, into any) {
	if err := json.Unmarshal([]byte(o.response), into); err != nil {
		w.fail("a response is not valid: %v: %s", err, o.response)
	}
}

// edit records an operation on a record, without the members that the model of the kind does not have.
func (w *World) edit(o *op, kind, name, operation string, e edit) {
	for _, members := range []object{e.seen, e.change} {
		maps.DeleteFunc(members, func(member string, _ any) bool {
			return !strings.Contains(defaults[kind], strconv.Quote(member))
		})
	}
	o.edit = e
	w.record(o, kind, name, operation, e)
}
