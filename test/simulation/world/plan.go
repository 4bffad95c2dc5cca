package world

import (
	"slices"
	"testing"
	"testing/synctest"
)

// Plan determines a history. New(seed) makes one; shrinking removes actors, faults and steps from it.
type Plan struct {
	Seed   uint64
	Actors uint64 // a bit for each element of actors
	Faults uint64 // a bit for each fault
	Steps  int    // the number of requests and commands after which the actors stop
}

// NewPlan returns the plan of a seed. Half of the faults occur in it, and some of the actors: of those who change
// types, toggles and fields, of the others, or of all.
func NewPlan(seed uint64) Plan {
	if len(actors) > 64 {
		panic("a plan has no bit for each actor")
	}
	g := []cast{editors, activators, others, requests, activators, others, teams, everybody, editors, requests}[seed%10]
	some := uint64(0)
	for i := range 3 + seed/10%4 {
		some |= 1 << (g.first + mix(seed, 2+i)%(g.end-g.first))
	}
	if g == activators {
		some |= 3 << g.end // the applications
	}
	if g == requests {
		some |= 1 << teams.end // otherwise there can be none
	}
	return Plan{Seed: seed, Actors: some, Faults: mix(seed, 1) & (1<<len(faultNames) - 1), Steps: 1 << 20}
}

// acts reports whether an actor has a part.
func (p Plan) acts(name string) bool {
	i := slices.IndexFunc(actors, func(p part) bool { return p.name == name })
	return p.Actors>>i&1 == 1
}

// tokenLimit is the maximum number of tokens of an account.
func (p Plan) tokenLimit() int { return []int{2, 2, 5}[mix(p.Seed, 17)%3] }

// Result is what happened.
type Result struct {
	Plan      Plan
	Digest    uint64
	Calls     int    // of AWS services, the issuer and the webhook
	Steps     int    // requests and commands of actors
	Violation string // the first one; empty: none
	History   []string

	ops []op
}

// Run runs a plan. With trace, the result contains a readable history.
func Run(t *testing.T, p Plan, trace bool) (r Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, p)
		w.tracing = trace
		w.live()
		r = w.result
	})
	if r.Violation == "" {
		r.Violation = r.linearize()
	}
	return r
}
