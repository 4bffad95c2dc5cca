package simulation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// edit is the value of an op of the API on a toggle.
type edit struct {
	Project string         // of the path; empty: none
	Seen    map[string]any // members that the response has, or that the ETag of an update is of; nil: none
	Change  map[string]any
}

// editToggle does what the console does with toggles.
func (a *actor) editToggle() {
	name, project := subject(a, a.toggles...), choose(a, "default", "default", "shop")
	path := "projects/" + project + "/features/" + name
	c := choose(a, a.admin, a.api, a.editor)
	on := a.IntN(2) == 0
	switch a.IntN(9) {
	case 0:
		e := edit{Project: project, Change: map[string]any{"project": project, "type": choose(a, a.types...)}}
		body := fmt.Sprintf(`{"name":%q,"type":%q}`, name, e.Change["type"])
		a.recordEdit(a.do(c, http.MethodPost, "projects/"+project+"/features", body), name, "create", e)
	case 1, 2, 7:
		a.updateToggle(c, path, name, project)
	case 3:
		a.recordEdit(a.do(c, http.MethodDelete, path, ""), name, "archive",
			edit{Project: project, Change: map[string]any{"archived": true}})
	case 4:
		a.markToggles(c, name, project, on)
	case 5:
		a.recordEdit(a.do(c, http.MethodPost, "archive/revive/"+name, ""), name, "revive",
			edit{Change: map[string]any{"archived": false}})
	case 6:
		a.recordEdit(a.do(c, http.MethodDelete, "archive/"+name, ""), name, "remove", edit{})
	default:
		a.searchToggles(c, on)
	}
}

// updateToggle reads a toggle, and changes it most of the time only if it is as it was read.
func (a *actor) updateToggle(c *credential, path, name, project string) {
	o := a.do(c, http.MethodGet, path, "")
	e := edit{Project: project}
	if o.ok() {
		e.Seen = a.members(o, "project", "type", "description", "archived", "stale", "contextFields")
	}
	a.recordEdit(o, name, "read", e)
	if !o.ok() {
		return
	}
	match := []string{o.etag}
	a.meanwhile((*actor).editToggle)
	a.n++
	e.Change = choose(a, map[string]any{"type": choose(a, a.types...)}, map[string]any{"stale": a.IntN(2) == 0},
		map[string]any{"description": fmt.Sprint(a.name, " ", a.n)},
		map[string]any{"description": fmt.Sprint(a.name, " again ", a.n)})
	only(e.Seen, "type", "description", "stale")
	if a.IntN(4) == 0 {
		e.Seen, match = nil, nil
	}
	body, _ := json.Marshal(e.Change)
	o = a.do(c, http.MethodPut, path, string(body), match...)
	a.recordEdit(o, name, "update", e)
	if o.ok() && !reflect.DeepEqual(a.members(o, slices.Collect(maps.Keys(e.Change))...), e.Change) {
		a.fail("an update of %s to %s returns %s", name, body, o.response)
	}
}

// markToggles marks one or two toggles together.
func (a *actor) markToggles(c *credential, name, project string, stale bool) {
	names := []string{name}
	if other := choose(a, a.toggles...); other != name {
		names = append(names, other)
	}
	body, _ := json.Marshal(map[string]any{"features": names, "stale": stale})
	o := a.do(c, http.MethodPost, "projects/"+project+"/stale", string(body))
	if o.status == http.StatusNotFound && len(names) > 1 {
		return // it is not known here which one
	}
	for _, name := range names {
		a.recordEdit(o, name, "mark", edit{Project: project, Change: map[string]any{"stale": stale}})
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
			a.recordEdit(o, name, "read", edit{Seen: only(seen[name], "project", "type", "description", "archived", "stale")})
		} else { // it is not there, or not in this state
			a.recordEdit(o, name, "miss", edit{Seen: map[string]any{"archived": archived}})
		}
	}
}

func (w *World) decode(o *op, into any) {
	if err := json.Unmarshal([]byte(o.response), into); err != nil {
		w.fail("a response is not valid: %v: %s", err, o.response)
	}
}

// members returns some members of the response.
func (w *World) members(o *op, names ...string) map[string]any {
	var all map[string]any
	w.decode(o, &all)
	return only(all, names...)
}

// only returns an object without the other members.
func only(object map[string]any, names ...string) map[string]any {
	maps.DeleteFunc(object, func(name string, _ any) bool { return !slices.Contains(names, name) })
	return object
}

// recordEdit records an operation on a toggle.
func (a *actor) recordEdit(o *op, name, verb string, e edit) {
	value, _ := json.Marshal(e)
	a.record(o, "toggle", name, verb, string(value))
}

// stepToggle is stepRecord with the operations of the API.
func stepToggle(record string, o op) (bool, string) {
	if !strings.HasPrefix(o.value, `{"Project"`) {
		return stepRecord(record, o)
	}
	var e edit
	var current map[string]any
	_ = json.Unmarshal([]byte(o.value), &e) // it was JSON
	if record != "" {
		_ = json.Unmarshal([]byte(record), &current)
	}
	exists := current != nil && (e.Project == "" || current["project"] == e.Project)
	same := true
	for name, value := range e.Seen {
		same = same && reflect.DeepEqual(current[name], value)
	}
	status, next := "404", record
	change, _ := json.Marshal(e.Change) // the same
	switch {
	case o.name == "miss":
		return current == nil || !same, record
	case o.name == "create" && current == nil:
		status, next = "201", merged(defaults[o.kind], string(change))
	case o.name == "create":
		status = "409"
	case !exists:
	case o.name == "read":
		return o.result == "200" && same, record
	case o.name == "update" && !same:
		status = "412"
	case o.name == "revive" && o.result == "409": // a context field is gone
		return current["archived"] == true && !reflect.DeepEqual(current["contextFields"], []any{}), record
	case o.name == "remove" && current["archived"] == true:
		status, next = "200", ""
	case o.name == "remove":
		status = "409"
	default:
		status = map[string]string{"update": "200", "archive": "202", "mark": "202", "revive": "200"}[o.name]
		next = merged(record, string(change))
	}
	if o.unknown {
		return true, next
	}
	return o.result == status, next
}
