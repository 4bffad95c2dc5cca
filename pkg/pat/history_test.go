package pat_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"toggleadmin/pkg/pat"
)

const (
	clients = 8
	limit   = 2 // of tokens per account; low, so that the clients reach it
)

// action is one call of one client. begin and end are values of a counter that all clients share: a call that ended before another began
// came before it.
type action struct {
	kind        string // create, delete or use
	begin, end  int64
	account     int64
	description string
	id          int64 // of the token; 0 for a rejected creation
	err         error
	valid       bool // of a use
}

// history is what all clients did.
type history struct {
	*fixture
	clock  atomic.Int64
	mu     sync.Mutex
	events []action
	tokens []issued
}

// step is what a client does next.
type step struct{ kind, account, description, pick int }

func (h *history) run(t *rapid.T, base int64, s step) {
	e := action{kind: "create", account: base + int64(s.account), description: descriptions[s.description]}
	var target issued
	if s.kind > 0 {
		h.mu.Lock()
		if len(h.tokens) > 0 {
			target = h.tokens[s.pick%len(h.tokens)]
		}
		h.mu.Unlock()
		if target.ID == 0 {
			return
		}
		e = action{kind: []string{1: "delete", 2: "use"}[s.kind], account: target.UserID, id: target.ID}
	}
	e.begin = h.clock.Add(1)
	switch e.kind {
	case "create":
		target.PAT, target.token, e.err = h.pats.Create(t.Context(), newPAT(e.account, e.description), owner(limit))
		e.id = target.ID
	case "delete":
		e.err = h.pats.Delete(t.Context(), pat.AnyKind, e.account, e.id)
	case "use":
		_, e.valid = h.authenticate(t, now(), target.token)
	}
	e.end = h.clock.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	if e.kind == "create" && e.err == nil {
		h.tokens = append(h.tokens, target)
	}
}

// span is the life of a token. The token certainly existed from created to deleting, and at most from creating to deleted.
type span struct {
	account                              int64
	description                          string
	creating, created, deleting, deleted int64
}

const never = int64(1) << 62

// check fails the test unless the calls, one after another in some order, could have had these results.
func (h *history) check(t *rapid.T, lastBefore int64) {
	spans := map[int64]*span{}
	var ids []int64
	for _, e := range h.events {
		if e.kind == "create" && e.err == nil {
			if spans[e.id] != nil || e.id <= lastBefore {
				t.Fatalf("id %d was used before", e.id)
			}
			ids = append(ids, e.id)
			spans[e.id] = &span{e.account, e.description, e.begin, e.end, never, never}
		}
	}
	for _, e := range h.events {
		if e.kind == "delete" && e.err == nil {
			if spans[e.id].deleted != never {
				t.Fatalf("PAT %d was deleted twice", e.id)
			}
			spans[e.id].deleting, spans[e.id].deleted = e.begin, e.end
		}
	}
	slices.Sort(ids)
	for i, id := range ids {
		for _, later := range ids[i+1:] {
			if spans[later].created < spans[id].creating {
				t.Fatalf("PAT %d existed before the creation of PAT %d began", later, id)
			}
		}
		s := spans[id]
		together, same := 0, 0
		for _, other := range spans {
			if other.account == s.account && other.created <= s.created && s.created < other.deleting {
				together++
				if other.description == s.description {
					same++
				}
			}
		}
		if s.created < s.deleting && (together > limit || same > 1) {
			t.Fatalf("account %d has %d tokens, %d of them %q", s.account, together, same, s.description)
		}
	}
	for _, e := range h.events {
		checkEvent(t, spans, e)
	}
}

func checkEvent(t *rapid.T, spans map[int64]*span, e action) {
	possible, same := 0, 0 // tokens of the account that may have existed during the call
	for _, s := range spans {
		if s.account == e.account && s.creating < e.end && e.begin < s.deleted {
			possible++
			if s.description == e.description {
				same++
			}
		}
	}
	var wrong bool
	s := spans[e.id]
	switch {
	case e.kind == "create" && errors.Is(e.err, pat.ErrTooMany):
		wrong = possible < limit
	case e.kind == "create" && errors.Is(e.err, pat.ErrDescriptionExists):
		wrong = same == 0
	case e.kind == "delete" && errors.Is(e.err, pat.ErrNotFound):
		wrong = s.deleting > e.end
	case e.kind == "use" && e.valid:
		wrong = e.begin > s.deleted
	case e.kind == "use":
		wrong = e.end < s.deleting
	default:
		wrong = e.err != nil
	}
	if wrong {
		t.Fatalf("%+v; its token %+v; %d tokens of the account may have existed, %d with the description", e, s, possible, same)
	}
}

// TestConcurrentLifeOfTokens lets clients create, use and delete the same accounts' tokens. Their results must be those of some order of
// their calls.
func TestConcurrentLifeOfTokens(t *testing.T) {
	t.Parallel()
	f, base, last := newFixture(t), int64(1), int64(0)
	steps := rapid.Custom(func(t *rapid.T) step {
		return step{
			kind: rapid.IntRange(0, 2).Draw(t, "kind"), account: rapid.IntRange(0, aPerson-1).Draw(t, "account"),
			description: rapid.IntRange(0, len(descriptions)-1).Draw(t, "description"), pick: rapid.IntRange(0, 31).Draw(t, "pick"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		scripts := rapid.SliceOfN(rapid.SliceOfN(steps, 1, 8), clients, clients).Draw(t, "scripts")
		f.newAccounts(t, base)
		h := &history{fixture: f}
		var running sync.WaitGroup
		for _, script := range scripts {
			running.Go(func() {
				for _, s := range script {
					h.run(t, base, s)
				}
			})
		}
		running.Wait()
		h.check(t, last)
		for _, issued := range h.tokens {
			last = max(last, issued.ID)
		}
		base += accounts + 1
	})
	f.requireConsistent(t)
}
