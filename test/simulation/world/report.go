package world

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"
)

// Shrink returns a smaller plan with a violation, in which fewer actors do fewer things and fewer faults occur. It runs
// plans for at most the time limit.
func Shrink(t *testing.T, r Result, limit time.Duration) Result {
	t.Helper()
	started := time.Now()
	try := func(p Plan) {
		if time.Since(started) > limit {
			return
		}
		if smaller := Run(t, p, false); smaller.Violation != "" {
			smaller.Plan.Steps = min(smaller.Plan.Steps, smaller.Steps)
			r = smaller
		}
	}
	r.Plan.Steps = r.Steps
	for size := 0; size != r.Plan.size(); {
		size = r.Plan.size()
		for cut := r.Plan.Steps / 2; cut > 0; cut = min(cut, r.Plan.Steps) / 2 {
			p := r.Plan
			p.Steps -= cut
			try(p)
		}
		for bit := range 64 {
			if p := r.Plan; p.Actors>>bit&1 == 1 {
				p.Actors ^= 1 << bit
				try(p)
			}
			if p := r.Plan; p.Faults>>bit&1 == 1 {
				p.Faults ^= 1 << bit
				try(p)
			}
		}
	}
	return r
}

func (p Plan) size() int { return p.Steps + bits.OnesCount64(p.Actors) + bits.OnesCount64(p.Faults) }

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
	command := fmt.Sprintf("go test ./test/simulation -run TestSeeds -seed=%d -seeds=1 -actors=%#x -faults=%#x -steps=%d",
		p.Seed, p.Actors, p.Faults, p.Steps)
	return fmt.Sprintf("%s\nfaults: %s\nreplay: %s\n\n%s\n", r.Violation, strings.Join(faults, ", "), command,
		strings.Join(r.History, "\n"))
}
