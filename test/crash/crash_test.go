package crash_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
)

// writers is how many clients write at the same time: 4 feedback records, 4 lifetimes, 8 service accounts' tokens.
const writers = 16

// TestKill kills with SIGKILL: everything at once, and the engine alone.
func TestKill(t *testing.T) {
	t.Parallel()
	program := build(t)
	t.Run("EverythingTenTimes", func(t *testing.T) {
		t.Parallel()
		killEverything(t, program)
	})
	t.Run("TheEngineWhileServing", func(t *testing.T) {
		t.Parallel()
		killEngine(t, program)
	})
}

func killEverything(t *testing.T, program string) {
	t.Helper()
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	dir := t.TempDir()
	p := launch(t, program, dir)
	first := p.service.Credentials
	var all []*ledger
	for round := range rounds {
		c := newCrowd(t, p.service.BaseURL, false)
		l := startWriters(t, c, p, round)
		all = append(all, l)
		c.awaitAcks(t, 100+rand.Int64N(300))
		p.kill(t, round%2 == 0)
		c.running.Wait()
		t.Logf("round %d: killed after %d acknowledged writes", round+1, c.acks.Load())

		p = launch(t, program, dir)
		if diff := cmp.Diff(first, p.service.Credentials); diff != "" {
			t.Error("other credentials", diff)
		}
		l.check(t, p)
		if t.Failed() {
			t.FailNow()
		}
	}
	after := newCrowd(t, p.service.BaseURL, false)
	var tokens []*tokens
	for _, l := range all { // also what was written before an earlier kill
		for _, w := range l.tokens {
			w.check(after)
		}
		tokens = append(tokens, l.tokens...)
	}
	checkTables(t, &p.service, tokens)
	p.stop(t)
}

func killEngine(t *testing.T, program string) {
	t.Helper()
	kills := 5
	if testing.Short() {
		kills = 2
	}
	p := launch(t, program, t.TempDir())
	c := newCrowd(t, p.service.BaseURL, true)
	l := startWriters(t, c, p, 0)
	for range kills {
		c.awaitAcks(t, 50+rand.Int64N(150))
		var pid int
		await(t, "the engine", func() (ok bool) { pid, ok = p.enginePID(); return ok })
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		await(t, "another engine", func() bool { another, ok := p.enginePID(); return ok && another != pid })
	}
	c.awaitAcks(t, 100)
	c.halt.Store(true)
	c.running.Wait()
	t.Logf("%d kills, %d acknowledged writes, %d answers 500 or 503", kills, c.acks.Load(), c.faults.Load())
	l.check(t, p)
	p.stop(t)
}

// ledger is those of all writers.
type ledger struct {
	feedback  map[string]*record
	lifetimes map[string]*record
	tokens    []*tokens
}

// startWriters makes service accounts for this round and starts the writers.
func startWriters(t *testing.T, c *crowd, p *process, round int) *ledger {
	t.Helper()
	l := &ledger{feedback: map[string]*record{}, lifetimes: map[string]*record{}}
	for i := range 4 {
		id := fmt.Sprintf("crash-%d-%d", round, i)
		l.feedback[id] = feedbackWriter(c, id, p.service.Users[i%3].PAT)
	}
	for _, featureType := range []string{"release", "experiment", "operational", "kill-switch"} {
		r := lifetimeWriter(c, featureType, p.service.APIToken)
		r.sent = r.read(c) // of an earlier round
		r.acked = r.sent
		l.lifetimes[featureType] = r
	}
	users := user.NewStore(engineClient(t, &p.service), dynamo.TablesByID(p.service.DynamoDB.Tables))
	for i := range 8 {
		account := user.User{ID: int64(100 + 8*round + i), Kind: user.ServiceAccount, Name: "crash", Role: auth.RoleEditor}
		if err := users.Create(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		l.tokens = append(l.tokens, &tokens{c: c, account: account.ID, admin: p.service.Users[0].PAT})
	}
	for _, one := range []map[string]*record{l.feedback, l.lifetimes} {
		for _, r := range one {
			c.work(r.step)
		}
	}
	for _, w := range l.tokens {
		c.work(w.step)
	}
	return l
}

// check looks at everything that the writers wrote.
func (l *ledger) check(t *testing.T, p *process) {
	t.Helper()
	c := newCrowd(t, p.service.BaseURL, false)
	for id, r := range l.feedback {
		r.check(c, "feedback "+id)
	}
	for featureType, r := range l.lifetimes {
		r.check(c, "the lifetime of "+featureType)
	}
	for _, w := range l.tokens {
		w.check(c)
	}
	checkTables(t, &p.service, l.tokens)
}
