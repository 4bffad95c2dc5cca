package simulation

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Shrink returns a smaller plan with a violation, in which fewer actors do fewer things and fewer faults occur. It runs
// plans for at most the time limit.
func Shrink(t *testing.T, r Result, limit time.Duration) Result {
	t.Helper()
	started := time.Now()
	try := func(p Plan) bool {
		if time.Since(started) > limit {
			return false
		}
		smaller := Run(t, p, false)
		if smaller.Violation == "" {
			return false
		}
		smaller.Plan.Steps = min(smaller.Plan.Steps, smaller.Steps)
		r = smaller
		return true
	}
	r.Plan.Steps = r.Steps
	for size := 0; size != r.Plan.size(); {
		size = r.Plan.size()
		for cut := r.Plan.Steps / 2; cut > 0; cut /= 2 {
			for r.Plan.Steps > cut {
				p := r.Plan
				p.Steps -= cut
				if !try(p) {
					break
				}
			}
		}
		for bit := range uint64(64) {
			if p := r.Plan; p.Actors>>bit&1 == 1 {
				p.Actors &^= 1 << bit
				try(p)
			}
			if p := r.Plan; p.Faults>>bit&1 == 1 {
				p.Faults &^= 1 << bit
				try(p)
			}
		}
	}
	return r
}

func (p Plan) size() int {
	size := p.Steps
	for bit := range uint64(64) {
		size += int(p.Actors>>bit&1 + p.Faults>>bit&1)
	}
	return size
}

// Report runs the plan of a violation again. It returns the command that replays it, and the history.
func Report(t *testing.T, p Plan) string {
	t.Helper()
	r := Run(t, p, true)
	var faults []string
	for i, name := range faultNames {
		if p.Faults>>i&1 == 1 {
			faults = append(faults, name)
		}
	}
	return fmt.Sprintf("%s\nfaults: %s\nreplay: %s\n\n%s\n", r.Violation, strings.Join(faults, ", "), p.Command(),
		strings.Join(r.History, "\n"))
}

// Command returns the command that replays a plan.
func (p Plan) Command() string {
	return fmt.Sprintf("go test ./test/simulation -run TestReplay -seed=%d -actors=%#x -faults=%#x -steps=%d", p.Seed,
		p.Actors, p.Faults, p.Steps)
}
