package crash_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestTraffic sends requests of every kind, kills everything on the way, and holds 4.6 against what was sent. What a kill met is counted or
// not, but answered ≤ counted ≤ sent; what no kill met is counted exactly. `make soak` is this test with a million requests.
func TestTraffic(t *testing.T) {
	t.Parallel()
	requests, kills := soakSize(t)
	program, dir := build(t), t.TempDir()
	p := launch(t, program, dir)
	started := time.Now()
	l := newUsageLedger(p, started)
	before := usage{}
	for round := range kills {
		l.mayFail.Store(true)
		c := l.work(t, p, -1)
		part := requests / (kills + 1)
		l.awaitAnswers(t, part*round+part/2+rand.Int64N(part/2))
		p.kill(t, round%2 == 0)
		c.running.Wait()
		p = launch(t, program, dir)
		before = l.settle(t, p)
		l.log(t, fmt.Sprint("kill ", round+1), before)
	}
	l.mayFail.Store(false)
	answered := maps.Clone(l.answered)
	l.work(t, p, requests).running.Wait()
	after := l.settle(t, p)
	l.log(t, "the end", after)
	for at := range l.places(after) {
		if got, want := after[at]-before[at], l.answered[at]-answered[at]; got != want {
			t.Errorf("%s, %s: %d counted since the last kill, %d sent and answered", at.path, at.group, got, want)
		}
	}
	t.Logf("%.0f requests a second\n%s", float64(l.next.Load())/time.Since(started).Seconds(), l.table(after))
	p.stop(t)
}

// soakSize is how many requests are sent, beside those of 4.6, and how often everything is killed.
func soakSize(t *testing.T) (requests, kills int64) {
	t.Helper()
	requests, kills = 3000, 2
	if testing.Short() {
		kills = 1
	}
	for name, size := range map[string]*int64{"SOAK_REQUESTS": &requests, "SOAK_KILLS": &kills} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			t.Fatalf("%s=%s is no number", name, text)
		}
		*size = n
	}
	if requests < 10*(kills+1) {
		t.Fatalf("%d requests are too few for %d kills", requests, kills)
	}
	return requests, kills
}
