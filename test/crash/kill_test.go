package crash_test

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

func TestKillEverything(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir)
	first := s.Credentials
	var all []*account
	for round := range repetitions() {
		l := &load{service: s}
		w := startWriters(l, round)
		all = append(all, w.accounts...)
		l.awaitWrites(100 + mathrand.Int64N(300))
		s.kill(round%2 == 0)
		l.running.Wait()
		s = start(t, dir)
		if diff := cmp.Diff(first, s.Credentials); diff != "" {
			t.Error("the credentials have changed", diff)
		}
		w.check(s)
		if t.Failed() {
			t.FailNow()
		}
	}
	(&writes{accounts: all}).check(s)
	s.stop()
}

func TestKillEngine(t *testing.T) {
	t.Parallel()
	s := start(t, filepath.Join(t.TempDir(), "data"))
	l := &load{service: s, resumes: true}
	w := startWriters(l, 0)
	for range repetitions() {
		l.awaitWrites(50 + mathrand.Int64N(150))
		engine := s.engine()
		s.killEngine()
		s.await("another engine", func() bool { now := s.engine(); return now > 0 && now != engine })
	}
	l.awaitWrites(100)
	l.halted.Store(true)
	l.running.Wait()
	w.check(s)
	s.stop()
}

// repetitions returns the number of kills.
func repetitions() int {
	if testing.Short() {
		return 2
	}
	return 4
}

// writes is what the clients of a load have written.
type writes struct {
	counters []*counter
	accounts []*account
}

// startWriters starts clients that write 4 feedback records, 4 lifetimes and the tokens of 8 service accounts.
func startWriters(l *load, round int) *writes {
	l.t.Helper()
	w := &writes{}
	for i, id := range []string{"release", "experiment", "operational", "kill-switch"} {
		w.counters = append(w.counters, newFeedback(fmt.Sprintf("crash-%d-%d", round, i), l.Users[i%3].PAT), newLifetime(l.service, id))
	}
	users := user.NewStore(l.db, l.tables)
	for i := range 8 {
		a := &account{id: int64(100 + 8*round + i)}
		must(l.t, users.Create(l.t.Context(), user.User{ID: a.id, Kind: user.ServiceAccount, Name: "crash", Username: fmt.Sprint("crash ", a.id), Role: auth.RoleEditor}))
		w.accounts = append(w.accounts, a)
	}
	for _, c := range w.counters {
		l.add(func() result { return c.step(l) })
	}
	for _, a := range w.accounts {
		l.add(func() result { return a.step(l) })
	}
	return w
}

// check checks all writes over HTTP and in the tables.
func (w *writes) check(s *service) {
	s.t.Helper()
	for _, c := range w.counters {
		c.check(s)
	}
	for _, a := range w.accounts {
		a.check(s)
	}
	store := pat.NewStore(s.db, s.tables, rand.Reader)
	pats, err := store.List(s.t.Context())
	must(s.t, err)
	last, err := store.LastID(s.t.Context())
	must(s.t, err)
	owners, err := user.NewStore(s.db, s.tables).List(s.t.Context())
	must(s.t, err)
	checkTokens(s.t, pats, last, owners)
}

// checkTokens checks that each token is complete and listed by its owner, that owners list no other tokens, and that the counter of IDs is
// not behind.
func checkTokens(t *testing.T, pats []pat.PAT, last int64, owners []user.User) {
	t.Helper()
	stored := map[int64]pat.PAT{}
	for _, p := range pats {
		if stored[p.ID].ID != 0 || p.ID > last {
			t.Errorf("token %d exists twice or is above the counter %d", p.ID, last)
		}
		if p.Verifier == (auth.Verifier{}) || p.Description == "" || p.ExpiresAt.IsZero() || p.CreatedAt.IsZero() {
			t.Errorf("token %d is incomplete: %+v", p.ID, p)
		}
		stored[p.ID] = p
	}
	listed := 0
	for _, owner := range owners {
		for key, id := range owner.PATs {
			listed++
			if p := stored[id]; p.UserID != owner.ID || pat.DescriptionKey(p.Description) != key {
				t.Errorf("user %d lists token %d, which is %+v", owner.ID, id, p)
			}
		}
	}
	if listed != len(pats) {
		t.Errorf("%d tokens are stored, %d listed by their owners", len(pats), listed)
	}
}
