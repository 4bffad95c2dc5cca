package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// op is a request or command of an actor, and what it did to an object, for the check that there is an order in which
// each operation takes effect at one time between its beginning and its end.
type op struct {
	actor        string
	begun, ended time.Time
	status       int // of a command: 200, 404, 409 or 500
	response     string
	etag         string
	unknown      bool // it may have taken effect, or may still
	reads        bool // and writes nothing
	tokenLimit   int  // of an account
	*tracked

	kind, object, name string
	value              string
	edit               edit // of a record
}

func (o *op) ok() bool { return o.status/100 == 2 }

// observed returns an operation that the world itself makes now.
func observed() *op {
	return &op{begun: time.Now(), ended: time.Now(), status: http.StatusOK, tracked: &tracked{}}
}

// record adds an operation to the history of an object, unless it is a read without a result, a refused change of a
// value, or was refused for a reason that has nothing to do with the object. A creation of a token is forbidden because
// of the others.
func (w *World) record(o *op, kind string, object any, name string, value any) {
	switch {
	case o.unknown && o.reads, !o.unknown && !o.ok() && name == "set", o.status == http.StatusUnauthorized:
	case w.has(paged) && strings.HasPrefix(name, "list"): // a list of several pages is not of one time
	case o.status == http.StatusForbidden && (kind != "tokens" || name != "create"):
	default:
		w.add(o, kind, object, name, value)
	}
}

func (w *World) add(o *op, kind string, object any, name string, value any) {
	recorded := *o
	recorded.kind, recorded.object, recorded.name, recorded.value = kind, fmt.Sprint(object), name, fmt.Sprint(value)
	w.result.ops = append(w.result.ops, recorded)
}

// canonical returns a set as text.
func canonical(set []string) string {
	slices.Sort(set)
	return strings.Join(set, "\n")
}

// models describe what an operation does to the state of an object, and whether it can have its result.
var models = map[string]func(state string, o op) (bool, string){
	"type": stepValue, "role": stepValue, "enabled": stepValue, "tokens": stepTokens,
	"field": stepRecord, "feedback": stepRecord, "toggle": stepRecord,
}

const absent = "\x00"

var initial = map[string]string{"enabled": "true"}

// stepValue: the state is the value; empty: unknown.
func stepValue(state string, o op) (bool, string) {
	return o.name == "set" || state == "" || state == o.value, o.value
}

// defaults are the members of new records.
var defaults = map[string]string{
	"field":    `{"description":""}`,
	"feedback": `{"neverShow":false,"given":null}`,
	"toggle": `{"project":"default","type":"release","description":null,"archived":false,"stale":false,` +
		`"contextFields":[]}`,
}

// stepRecord: the state is a record as JSON; empty: there is none.
func stepRecord(state string, o op) (bool, string) {
	var record map[string]any
	if err := json.Unmarshal([]byte(cmp.Or(state, defaults[o.kind])), &record); err != nil {
		panic(err)
	}
	exists := state != "" && (o.edit.project == "" || record["project"] == o.edit.project)
	same, archived := shows(record, o.edit.seen), record["archived"] == true
	unused := fmt.Sprint(record["contextFields"]) == "[]"
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
	case !exists:
	case o.name == "read":
		return same && o.status == 200, state
	case o.name == "delete" && o.status == 409: // a context field is in use
		return true, state
	case o.name == "revive" && o.status == 409: // a context field is gone
		return archived && !unused, state
	case o.edit.seen != nil && !same: // the ETag is of another state
		status = 412
	case o.name == "remove" || o.name == "delete":
		status, next = 200, ""
	default:
		status, next = cmp.Or(map[string]int{"archive": 202, "mark": 202}[o.name], 200), text(record)
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

// encode returns a value as JSON.
func encode(v any) []byte {
	content, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return content
}

// text returns an object as JSON.
func text(object map[string]any) string { return string(encode(object)) }

// stepTokens: the state is the set of an account's tokens, each with its description, id and expiry; absent: the account
// is deleted.
func stepTokens(state string, o op) (bool, string) {
	status, next, closed := 404, state, state == absent
	var set []string
	if state != "" && !closed {
		set = strings.Split(state, "\n")
	}
	switch o.name {
	case "list", "list own": // the account can be deleted after the authorizer has read it
		for i := range set {
			set[i], _, _ = strings.Cut(set[i], "#")
		}
		return closed && (o.status == 404 || o.name == "list own" && o.value == "") || !closed && o.status == 200 &&
			o.value == canonical(set), state
	case "read":
		return slices.Contains(set, o.value) == (o.status == 200), state
	case "create":
		if !closed {
			status, next = createToken(set, o)
		}
	case "delete":
		if i := slices.Index(set, o.value); i >= 0 {
			status, next = 200, canonical(slices.Delete(set, i, i+1))
		}
	default: // close
		return o.status != 404 || closed, absent
	}
	return o.unknown || o.status == status, next
}

// createToken returns the status of a creation in an account with these tokens, and the tokens afterwards. In a full
// account, the token that expired first makes room. The clock of the function decides whether it has expired.
func createToken(set []string, o op) (status int, next string) {
	state := canonical(set)
	if len(set) >= o.tokenLimit {
		first := slices.MinFunc(set, func(a, b string) int { return expiryOf(a).Compare(expiryOf(b)) })
		begun, ended := o.begun.Add(-maxSkew), o.ended.Add(maxSkew)
		if o.unknown {
			ended = ended.Add(time.Minute) // it can still take effect
		}
		expired := expiryOf(first).Before(begun) || o.status != 403 && !expiryOf(first).After(ended)
		if !expired {
			return 403, state
		}
		set = slices.DeleteFunc(set, func(token string) bool { return token == first })
	}
	description, _, _ := strings.Cut(o.value, "#")
	if slices.ContainsFunc(set, func(token string) bool { return strings.HasPrefix(token, description+"#") }) {
		return 409, state
	}
	return 201, canonical(append(set, o.value))
}

// expiryOf returns the expiry of a token in the state of stepTokens.
func expiryOf(token string) time.Time {
	_, text, _ := strings.Cut(token, "@")
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// linearize checks the histories, and returns the first one that has no order.
func (r *Result) linearize() string {
	histories, unclear := map[string][]porcupine.Operation{}, map[string]bool{}
	for _, o := range r.ops {
		object := o.kind + " " + o.object
		unclear[object] = unclear[object] || o.name == "unclear"
		for range 1 + o.repeated() {
			ended := o.ended.UnixNano()
			if o.unknown {
				ended = math.MaxInt64
			}
			histories[object] = append(histories[object], porcupine.Operation{ClientId: len(histories[object]), Input: o,
				Call: o.begun.UnixNano(), Return: ended})
			o.unknown = true
		}
	}
	for _, object := range slices.Sorted(maps.Keys(histories)) {
		kind, _, _ := strings.Cut(object, " ")
		model := porcupine.Model{Init: func() any { return initial[kind] }, Step: func(state, input, _ any) (bool, any) {
			return models[kind](state.(string), input.(op)) //nolint:forcetypeassert,errcheck // they always are
		}}
		if !unclear[object] &&
			porcupine.CheckOperationsTimeout(model, histories[object], 5*time.Second) == porcupine.Illegal {
			for _, o := range histories[object] {
				r.History = append(r.History, fmt.Sprint(o.Input))
			}
			return fmt.Sprintf("the results of the operations on %s have no order", object)
		}
	}
	return ""
}

// repeated returns how often a write may have taken effect once more, because its response was lost and the SDK
// repeated it.
func (o *op) repeated() int {
	if o.name == "set" || o.name == "replace" || o.kind == "feedback" {
		return max(0, o.writes-1)
	}
	return 0
}

func (o op) String() string {
	ended := o.ended.Format("15:04:05.000000")
	if o.unknown {
		ended = "unknown        "
	}
	return fmt.Sprintf("%s – %s  %s: %s %s %s %q → %d",
		o.begun.Format("15:04:05.000000"), ended, o.actor, o.kind, o.object, o.name, o.value, o.status)
}
