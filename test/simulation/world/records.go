package world

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// object is an object of JSON.
type object = map[string]any

// edit is what an operation reads and changes of a record: a toggle, a context field, an answer to a questionnaire, or the
// saved views of an account.
type edit struct {
	project string // of the path; empty: none
	seen    object // members that the response has, or that the ETag of an update is of; nil: none
	change  object
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

// defaults are the members of new records.
var defaults = map[string]string{
	"field":       `{"description":""}`,
	"environment": `{"type":""}`,
	"segment":     `{"description":null}`,
	"feedback":    `{"neverShow":false,"given":null}`,
	"views":       `{"views":[]}`,
	"toggle": `{"project":"default","type":"release","description":null,"archived":false,"stale":false,` +
		`"owner":null,"keepUntil":null}`,
}

// success are the statuses of operations that succeed, by name or kind, if it is not 200.
var success = map[string]int{"archive": 202, "mark": 202, "segment": 204}

// stepRecord: the state is a record as JSON; empty: there is none.
func stepRecord(state string, o op) (bool, string) {
	var record map[string]any
	if err := json.Unmarshal([]byte(cmp.Or(state, defaults[o.kind])), &record); err != nil {
		panic(err)
	}
	exists := state != "" && (o.edit.project == "" || record["project"] == o.edit.project)
	same, archived := shows(record, o.edit.seen), record["archived"] == true
	maps.Copy(record, o.edit.change)
	status, next := 404, state
	switch {
	case o.name == "miss":
		return state == "" || !same, state
	case o.name == "put": // creates or changes it, and returns it
		return o.unknown || shows(record, o.edit.seen), text(record)
	case o.name == "create" && state == "":
		status, next = 201, text(record)
	case o.name == "create" || o.name == "remove" && exists && !archived && same:
		status = 409
	case !exists && o.kind == "environment" && o.name == "delete" && o.status == 200: // it ends a deletion
		return true, state
	case !exists:
	case o.name == "read":
		return same && o.status == 200, state
	case o.status == 409 && (o.name == "delete" || o.kind == "field" || o.kind == "segment"):
		return true, state // it is in use, or the other name exists
	case o.name == "revive" && o.status == 409: // a context field is gone
		return archived, state
	case o.name == "archive" && o.status == 409: // it has children
		return !archived && (o.edit.seen == nil || same), state
	case o.edit.seen != nil && !same: // the ETag is of another state
		status = 412
	case o.name == "remove" || o.name == "delete":
		status, next = cmp.Or(success[o.kind], 200), ""
	default:
		status, next = cmp.Or(success[o.name], success[o.kind], 200), text(record)
	}
	return o.unknown || o.status == status, next
}

// shows reports whether an object has members with these values.
func shows(object, members map[string]any) bool {
	for name, value := range members {
		if fmt.Sprint(object[name]) != fmt.Sprint(value) {
			return false
		}
	}
	return true
}
