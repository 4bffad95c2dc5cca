package simulation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
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
	switch a.IntN(10) {
	case 0:
		e := edit{project: project, change: object{"project": project, "type": choose(a, a.types...)}}
		body := object{"name": name, "type": e.change["type"]}
		a.edit(a.do(c, "POST projects/"+project+"/features", body), "toggle", name, "create", e)
	case 1, 2, 7:
		a.updateToggle(c, name, project)
	case 3:
		seen, match := a.readToggle(c, name, project)
		a.edit(a.do(c, "DELETE "+togglePath(name, project), nil, match...), "toggle", name, "archive",
			edit{project: project, seen: seen, change: object{"archived": true}})
	case 4:
		a.markToggles(c, name, project, on)
	case 5:
		seen, match := a.readToggle(c, name, project)
		a.edit(a.do(c, "POST archive/revive/"+name, nil, match...), "toggle", name, "revive",
			edit{seen: seen, change: object{"archived": false}})
	case 6:
		seen, match := a.readToggle(c, name, project)
		a.edit(a.do(c, "DELETE archive/"+name, nil, match...), "toggle", name, "remove", edit{seen: seen})
	case 8:
		a.searchByState(c, choose(a, "active", "stale", "potentially-stale", "potentially-stale"))
	default:
		a.searchToggles(c, on)
	}
}

func togglePath(name, project string) string { return "projects/" + project + "/features/" + name }

// readToggle sometimes reads a toggle. It returns the members that its ETag is of, and the If-Match that requires them, or
// nothing.
func (a *actor) readToggle(c *credential, name, project string) (seen object, match []string) {
	if a.IntN(2) == 0 {
		return nil, nil
	}
	e := edit{project: project}
	o := a.get(c, togglePath(name, project), &e.seen)
	a.edit(o, "toggle", name, "read", e)
	if !o.ok() {
		return nil, nil
	}
	a.meanwhile((*actor).editToggle)
	return tagged(e.seen), []string{o.etag}
}

// tagged returns the members of a toggle that its ETag is of.
func tagged(toggle object) object {
	return object{"type": toggle["type"], "description": toggle["description"], "stale": toggle["stale"]}
}

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
	e.seen = tagged(e.seen)
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

// longestLag is how late an index shows a write.
const longestLag = 3 * time.Second

// searchByState lists the toggles in a state. The index of those that are potentially stale shows a write later.
func (a *actor) searchByState(c *credential, state string) {
	a.meanwhile((*actor).changeLifetime)
	flagged := map[string]bool{} // since a time, before the search
	for _, item := range a.db.Items("Features") {
		name := item.String("name")
		if item.Bool("potentiallyStale") && !item.Bool("archived") &&
			a.touched[name].Before(time.Now().Add(-longestLag)) {
			flagged[name] = true
		}
	}
	var found struct {
		Features []object
		Total    int
	}
	o := a.get(c, "search/features?state=IS:"+state, &found)
	if !o.ok() {
		return
	}
	seen := map[string]bool{}
	for _, f := range found.Features {
		name := fmt.Sprint(f["name"])
		if seen[name] {
			a.fail("a search for toggles that are %s returns %s twice", state, name)
		}
		seen[name] = true
		if slices.Contains(a.toggles, name) {
			a.edit(o, "toggle", name, "read", edit{seen: f})
		}
		if f["stale"] != (state == "stale") {
			a.fail("a search for toggles that are %s returns %v", state, f)
		}
	}
	if found.Total != len(found.Features) {
		a.fail("a search lacks toggles: %s", o.response)
	}
	for name := range flagged {
		if unchanged := a.touched[name].Before(o.begun); unchanged && seen[name] != (state == "potentially-stale") {
			a.fail("the toggle %s is potentially stale, and a search for toggles that are %s returns it: %t", name, state,
				seen[name])
		}
	}
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
