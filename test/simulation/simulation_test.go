package simulation_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/test/simulation"
)

var (
	seed     = flag.Uint64("seed", 0, "the seed of TestReplay, and the first one of the other tests; 0 with -for: the time")
	parts    = flag.Uint64("parts", 0, "the actors and faults of TestReplay, as a failing seed prints them")
	steps    = flag.Int("steps", 0, "the steps of TestReplay; 0: all of the seed")
	seeds    = flag.Uint64("seeds", 0, "the number of seeds; 0: 200 for TestSeeds, 4 for the others")
	shrink   = flag.Duration("shrink", 30*time.Second, "how long a failing seed is shrunk")
	search   = flag.Duration("for", 0, "how long TestSeeds runs; 0: as many seeds as -seeds")
	failures = flag.String("failures", "",
		"the folder in which TestSeeds keeps failing seeds; empty: it ends at the first one")
)

func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(800)
	m.Run()
}

// TestSeeds runs seeds on all cores: a number of them, or with the flag -for, for a duration. It shrinks those that fail,
// and keeps them. Without the flag -failures, it ends at the first one.
func TestSeeds(t *testing.T) {
	t.Parallel()
	started, first := time.Now(), *seed
	if *search > 0 && first == 0 {
		first = uint64(started.UnixNano()) / 1000 * 1000
	}
	var begun, done, failed atomic.Uint64
	show := func() {
		elapsed := time.Since(started)
		fmt.Fprintf(os.Stderr, "%d seeds in %s, %.1f per second, %d failed\n", done.Load(), elapsed.Round(time.Second),
			float64(done.Load())/elapsed.Seconds(), failed.Load())
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
			for failed.Load() == 0 || *failures != "" {
				n := begun.Add(1) - 1
				if *search == 0 && n >= cmp.Or(*seeds, seedsOfTest) || *search > 0 && time.Since(started) > *search {
					return
				}
				r := simulation.Run(t, simulation.NewPlan(first+n), false)
				done.Add(1)
				if r.Violation == "" {
					continue
				}
				failed.Add(1)
				report := simulation.Report(t, simulation.Shrink(t, r, *shrink).Plan)
				t.Errorf("seed %d: %s", first+n, report)
				if *failures == "" {
					return
				}
				file := filepath.Join(*failures, fmt.Sprintf("%d.txt", first+n))
				if err := os.WriteFile(file, []byte(report), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestReplay runs the plan of the flags.
func TestReplay(t *testing.T) {
	if *steps == 0 {
		t.Skip("it needs the flags that a failing seed prints")
	}
	p := simulation.Plan{Seed: *seed, Parts: *parts, Steps: *steps}
	if r := simulation.Run(t, p, false); r.Violation != "" {
		t.Error(simulation.Report(t, p))
	}
}

// TestDigests prints the digests of the seeds.
func TestDigests(t *testing.T) {
	if os.Getenv("DIGESTS") == "" {
		t.Skip("TestSameSeedSameHistory runs it")
	}
	for s := *seed; s < *seed+cmp.Or(*seeds, 4); s++ {
		fmt.Fprintf(os.Stdout, "seed %d: %016x\n", s, simulation.Run(t, simulation.NewPlan(s), false).Digest)
	}
}

func TestSameSeedSameHistory(t *testing.T) {
	t.Parallel()
	digests := func(processors string) string {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDigests$", fmt.Sprint("-seed=", *seed),
			fmt.Sprint("-seeds=", cmp.Or(*seeds, 4)))
		command.Env = append(os.Environ(), "DIGESTS=1", "GOMAXPROCS="+processors)
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	one, two := digests("1"), digests("2")
	if n := strings.Count(one, "seed "); one != two || n == 0 {
		t.Errorf("%d digests with GOMAXPROCS=1 and 2:\n%s\n%s", n, one, two)
	}
}
