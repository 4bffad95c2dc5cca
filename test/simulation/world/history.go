package world

import (
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
