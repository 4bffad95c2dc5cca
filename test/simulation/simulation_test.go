package simulation_test

import (
	"strings"
	"testing"

	"toggleadmin/test/simulation"
)

func TestSeeds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		if r := simulation.Run(t, simulation.NewPlan(seed), false); r.Violation != "" {
			r = simulation.Run(t, r.Plan, true)
			t.Fatalf("seed %d: %s\n%s", seed, r.Violation, strings.Join(r.History, "\n"))
		}
	}
}

func TestSameSeedSameHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		first, second := simulation.Run(t, simulation.NewPlan(seed), false), simulation.Run(t, simulation.NewPlan(seed), false)
		if first.Digest != second.Digest {
			t.Errorf("seed %d has the digests %x and %x", seed, first.Digest, second.Digest)
		}
	}
}
