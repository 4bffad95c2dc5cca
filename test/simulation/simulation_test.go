package simulation_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/simulation/world"
)

var (
	seed   = flag.Uint64("seed", 0, "the first seed; 0 with -for: the time")
	seeds  = flag.Uint64("seeds", 0, "the number of seeds; 0: 8, or 1 of TestSameSeedSameHistory")
	actors = flag.Uint64("actors", 0, "the actors, as a failing seed prints them; 0: those of the seed")
	faults = flag.Uint64("faults", 0, "the faults, as a failing seed prints them; only with -actors")
	steps  = flag.Int("steps", 0, "the number of steps, as a failing seed prints it; only with -actors")
	shrink = flag.Duration("shrink", 30*time.Second, "how long a failing seed is shrunk")
	search = flag.Duration("for", 0, "how long TestSeeds runs, also after a failing seed; 0: as many seeds as -seeds")
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

// TestSeeds runs seeds on all cores: a number of them until one fails, or with the flag -for, for a duration. It
// shrinks those that fail, and keeps their reports as artifacts. The last line that it prints contains a digest of all
// histories.
func TestSeeds(t *testing.T) {
	t.Parallel()
	started, first := time.Now(), *seed
	if *search > 0 && first == 0 {
		first = uint64(started.UnixNano()) / 1000 * 1000
	}
	var begun, done, failed, digest atomic.Uint64
	show := func() {
		elapsed := time.Since(started)
		fmt.Fprintf(os.Stderr, "%d seeds in %s, %.1f per second, %d failed, digest %016x\n", done.Load(),
			elapsed.Round(time.Second), float64(done.Load())/elapsed.Seconds(), failed.Load(), digest.Load())
	}
	t.Cleanup(show)
	go func() {
		for range time.Tick(10 * time.Second) {
			show()
		}
	}()
	for core := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("core ", core), func(t *testing.T) {
			t.Parallel()
			for failed.Load() == 0 || *search > 0 {
				n := begun.Add(1) - 1
				if *search == 0 && n >= cmp.Or(*seeds, seedsOfTest) || *search > 0 && time.Since(started) > *search {
					return
				}
				plan := world.NewPlan(first + n)
				if *actors != 0 {
					plan.Actors, plan.Faults, plan.Steps = *actors, *faults, *steps
				}
				r := world.Run(t, plan, false)
				done.Add(1)
				digest.Add(r.Digest)
				if r.Violation == "" {
					continue
				}
				failed.Add(1)
				report := world.Report(t, world.Shrink(t, r, *shrink).Plan)
				t.Errorf("seed %d: %s", plan.Seed, report)
				file := filepath.Join(t.ArtifactDir(), fmt.Sprint(plan.Seed, ".txt"))
				assert.OK(t, os.WriteFile(file, []byte(report), 0o600))
			}
		})
	}
}

// TestSameSeedSameHistory compares the digests of seeds with one and with two processors. One world runs at a time.
func TestSameSeedSameHistory(t *testing.T) {
	t.Parallel()
	if withRace {
		t.Skip("TestSeeds finds the races")
	}
	digest := func(processors string) string {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSeeds$", "-test.parallel=1",
			fmt.Sprint("-seed=", *seed), fmt.Sprint("-seeds=", cmp.Or(*seeds, 1)))
		command.Env = append(os.Environ(), "GOMAXPROCS="+processors)
		out, err := command.CombinedOutput()
		found := regexp.MustCompile(`\d+ seeds in .* (digest \S+)\n`).FindAllSubmatch(out, -1)
		if err != nil || found == nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(found[len(found)-1][1])
	}
	assert.Equal(t, digest("1"), digest("2"))
}
