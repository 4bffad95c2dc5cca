package contract_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/pat"
)

// TestSection45_IdsAscend: "PATs: one increasing sequence for all, from 1; a later-created PAT always has a higher id, in commit order, also
// under concurrency." 16 creators, each with a service account of its own; a creation that begins after another has been answered must get
// a higher id, whoever made it.
func TestSection45_IdsAscend(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	const creators, each = 16, 8
	type creation struct {
		begun, answered time.Time
		token           token
	}
	var mu sync.Mutex
	var all []creation
	before := s.counter(t)
	var running sync.WaitGroup
	for range creators {
		account := s.serviceAccount(t)
		running.Go(func() {
			for range each {
				c := creation{begun: time.Now()}
				a := s.send(t, postToken(account, newToken()).as(s.APIToken))
				c.answered = time.Now()
				if a.status != 201 {
					t.Errorf("%d %s", a.status, a.body)
					return
				}
				a.decode(t, &c.token)
				mu.Lock()
				all = append(all, c)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	slices.SortFunc(all, func(a, b creation) int { return int(a.token.ID - b.token.ID) })
	if len(all) != creators*each {
		t.Fatalf("%d creations", len(all))
	}
	latest := time.Time{} // begin of any with a lower id
	for i, c := range all {
		if want := before + 1 + int64(i); c.token.ID != want {
			t.Fatalf("the id %d, want %d: one sequence without gaps", c.token.ID, want)
		}
		if c.answered.Before(latest) {
			t.Errorf("id %d was answered before a lower one was asked for", c.token.ID)
		}
		if c.begun.After(latest) {
			latest = c.begun
		}
	}
	if got := s.counter(t); got != before+creators*each {
		t.Errorf("the counter is at %d", got)
	}
}

// TestSection45_FirstID: the sequence begins at 1. (The seed's tokens are the first of a new instance.)
func TestSection45_FirstID(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	if got := s.counter(t); got != int64(len(s.Users)) {
		t.Errorf("after %d tokens the last id is %d", len(s.Users), got)
	}
	if got := mustParse(t, s.Users[0].PAT).Selector; got[15] != 1 {
		t.Errorf("the first id is %d", got[15])
	}
}

// TestSection45_OneOfManyWins: creations with one description at the same time: one is made; with one place left: one is made.
func TestSection45_OneOfManyWins(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	race := func(account int64, body func() string) map[int]int {
		statuses := map[int]int{}
		var mu sync.Mutex
		var running sync.WaitGroup
		for range 12 {
			c := postToken(account, body()).as(admin)
			running.Go(func() {
				status := s.send(t, c).status
				mu.Lock()
				defer mu.Unlock()
				statuses[status]++
			})
		}
		running.Wait()
		return statuses
	}
	t.Run("the same description", func(t *testing.T) {
		t.Parallel()
		account := s.serviceAccount(t)
		same := newToken()
		if got := race(account, func() string { return same }); got[201] != 1 || got[409] != 11 {
			t.Errorf("statuses %v", got)
		}
		if reserved, stored := s.tokensOf(t, account); len(reserved) != 1 || len(stored) != 1 {
			t.Errorf("%d and %d tokens", len(reserved), len(stored))
		}
	})
	t.Run("the limit", func(t *testing.T) {
		t.Parallel()
		account := s.serviceAccount(t)
		if got := race(account, newToken); got[201] != 10 || got[403] != 2 {
			t.Errorf("statuses %v", got)
		}
		if reserved, stored := s.tokensOf(t, account); len(reserved) != 10 || len(stored) != 10 {
			t.Errorf("%d and %d tokens", len(reserved), len(stored))
		}
	})
}

// isTransaction picks the creating and deleting transactions.
func isTransaction(operation string, _ any) bool { return operation == "TransactWriteItems" }

// TestSection45_Contention: "a lost race or TransactionConflict is retried with jitter until the deadline is near, then 503 with
// Retry-After, nothing written."
func TestSection45_Contention(t *testing.T) {
	t.Parallel()
	f := &faults{}
	s := start(t, options{faults: f, edit: hasty()})
	account := s.serviceAccount(t)
	before := s.counter(t)
	f.set(all(conflict, isTransaction))
	a := s.send(t, postToken(account, newToken()).as(s.APIToken))
	a.wantMessage(t, 503, textUnavailable)
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if f.attempts.Load() < 3 {
		t.Errorf("%d attempts", f.attempts.Load())
	}
	if reserved, stored := s.tokensOf(t, account); len(reserved)+len(stored) > 0 || s.counter(t) != before {
		t.Errorf("written: %v, counter %d", stored, s.counter(t))
	}
	f.set(func(operation string, input any) outcome {
		if isTransaction(operation, input) && f.attempts.Load() < 3 {
			return conflict
		}
		return succeeds
	})
	if created := s.createToken(t, s.APIToken, account, newToken()); created.ID != before+1 {
		t.Errorf("id %d, want %d", created.ID, before+1)
	}
}

// TestSection45_AmbiguousFailure: "An ambiguous failure never leaves a PAT whose secret nobody has: a retry that finds its own description
// with its own verifier has succeeded."
func TestSection45_AmbiguousFailure(t *testing.T) {
	t.Parallel()
	for _, lost := range []int64{1, 2, 1_000_000} { // answers of the engine that never arrive
		t.Run(fmt.Sprint(lost, " answers lost"), func(t *testing.T) {
			t.Parallel()
			f := &faults{}
			s := start(t, options{faults: f, edit: hasty()})
			account := s.serviceAccount(t)
			before := s.counter(t)
			f.set(func(operation string, input any) outcome {
				if isTransaction(operation, input) && f.attempts.Load() < lost {
					return persists
				}
				return succeeds
			})
			created := s.createToken(t, s.APIToken, account, newToken())
			if f.attempts.Load() == 0 {
				t.Fatal("no answer was lost")
			}
			f.set(nil)
			if created.ID != before+1 || s.counter(t) != before+1 {
				t.Errorf("id %d, counter %d, want %d", created.ID, s.counter(t), before+1)
			}
			if reserved, stored := s.tokensOf(t, account); len(reserved) != 1 || len(stored) != 1 {
				t.Errorf("%d and %d tokens", len(reserved), len(stored))
			}
			s.send(t, get(typesPath).as(created.Secret)).want(t, 200)
		})
	}
}

// TestSection45_OneTransaction: "PAT, counter, uniqueness and limit are written in one transaction: a crash in between leaves nothing half
// made": a creation's only write is one transaction.
func TestSection45_OneTransaction(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var calls []string
	f := &faults{}
	s := start(t, options{faults: f})
	account := s.serviceAccount(t)
	f.set(func(operation string, input any) outcome {
		mu.Lock()
		defer mu.Unlock()
		if ofOperation(operation, input) {
			calls = append(calls, operation)
		}
		return succeeds
	})
	created := s.createToken(t, s.APIToken, account, newToken())
	mu.Lock()
	if fmt.Sprint(calls) != "[GetItem TransactWriteItems]" {
		t.Errorf("calls of the creation: %v", calls)
	}
	calls = nil
	mu.Unlock()
	s.send(t, deleteToken(text(created.ID)).as(created.Secret)).want(t, 200)
	mu.Lock()
	if fmt.Sprint(calls) != "[GetItem TransactWriteItems]" {
		t.Errorf("calls of the deletion: %v", calls)
	}
	mu.Unlock()
	if s.item(t, "PersonalAccessTokens", pat.Key(account, created.ID)) != nil {
		t.Error("it is still there")
	}
}
