package grants

import (
	"cmp"
	"slices"
	"sync"

	"toggleadmin/test/meter"
)

// Use is one action of a function on a table, or on an index of it.
type Use struct {
	Function string // its folder
	Action   string // as policies spell it: dynamodb:PutItem
	Table    string // its name
	Index    string // empty: the table itself
}

// Recorder collects uses. Its Record is for meter.Options. The zero value is ready and safe for concurrent use.
type Recorder struct {
	mu   sync.Mutex
	uses map[Use]bool
}

// Record takes down what a call did.
func (r *Recorder) Record(call meter.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.uses == nil {
		r.uses = map[Use]bool{}
	}
	for _, access := range call.Accesses {
		r.uses[Use{Function: call.Function, Action: access.Action, Table: access.Table, Index: access.Index}] = true
	}
}

// Uses gives what was taken down so far, each use once, in a fixed order.
func (r *Recorder) Uses() []Use {
	r.mu.Lock()
	defer r.mu.Unlock()
	return sorted(r.uses)
}

func sorted(set map[Use]bool) []Use {
	uses := make([]Use, 0, len(set))
	for use := range set {
		uses = append(uses, use)
	}
	slices.SortFunc(uses, func(a, b Use) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index),
			cmp.Compare(a.Action, b.Action))
	})
	return uses
}
