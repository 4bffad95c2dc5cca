package stores_test

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/pat"
)

// event is one call of one client. Begin and end are ticks of a clock that all clients share: what ended before another began came
// before it.
type event struct {
	kind        string // create, delete, use
	begin, end  int64
	account     int64
	description string
	id          int64 // of the PAT; of a refused creation 0
	err         error
	valid       bool // of a use
}

// history is what all clients did.
type history struct {
	clock  atomic.Int64
	mu     sync.Mutex
	events []event
	tokens []secretOf
}

func (h *history) record(e event, call func(*event)) {
	e.begin = h.clock.Add(1)
	call(&e)
	e.end = h.clock.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *history) pick(n int) (secretOf, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.tokens) == 0 {
		return secretOf{}, false
	}
	return h.tokens[n%len(h.tokens)], true
}

// order is what a client does next.
type order struct{ kind, account, description, pick int }

const mostTokens = 2 // the limit, so low that it is met

func (h *history) obey(t *rapid.T, g *ground, a *authorizer.Authenticator, base int64, o order) {
	if o.kind == 0 {
		e := event{kind: "create", account: base + int64(o.account), description: descriptions()[o.description]}
		h.record(e, func(e *event) {
			p, token, err := g.PATs.Create(t.Context(), newPAT(e.account, e.description), owner(mostTokens))
			if e.err = err; err == nil {
				e.id = p.ID
				h.mu.Lock()
				h.tokens = append(h.tokens, secretOf{PAT: p, token: token})
				h.mu.Unlock()
			}
		})
		return
	}
	s, ok := h.pick(o.pick)
	if !ok {
		return
	}
	if o.kind == 1 {
		h.record(event{kind: "delete", account: s.UserID, id: s.ID}, func(e *event) { e.err = g.PATs.Delete(t.Context(), s.UserID, s.ID) })
		return
	}
	h.record(event{kind: "use", account: s.UserID, id: s.ID}, func(e *event) {
		_, e.valid, e.err = authenticated(a.Authenticate(t.Context(), s.token.Reveal()))
	})
}

// span is the time of a PAT: it was there for certain from made to gone, and at the most from making to going.
type span struct {
	account                    int64
	description                string
	making, made, gone, leaves int64
}

const never = int64(1) << 62

// check holds the history against what some order of its calls, one after another, can give.
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
			if s := spans[e.id]; s.leaves != never {
				t.Fatalf("PAT %d was deleted twice", e.id)
			} else {
				s.gone, s.leaves = e.begin, e.end
			}
		}
	}
	slices.Sort(ids)
	for i, earlier := range ids {
		for _, later := range ids[i+1:] {
			if spans[later].made < spans[earlier].making {
				t.Fatalf("PAT %d was there before the creation of PAT %d began", later, earlier)
			}
		}
		s := spans[earlier]
		together, same := h.certain(spans, s.made, s.account, s.description)
		if s.made < s.gone && (together > mostTokens || same > 1) {
			t.Fatalf("account %d has %d PATs at once, %d of them %q", s.account, together, same, s.description)
		}
	}
	for _, e := range h.events {
		h.checkOne(t, spans, e)
	}
}

// certain counts the PATs of an account that are there for certain at a time, and those of them with that description.
func (h *history) certain(spans map[int64]*span, at, account int64, description string) (together, same int) {
	for _, s := range spans {
		if s.account == account && s.made <= at && at < s.gone {
			together++
			if s.description == description {
				same++
			}
		}
	}
	return together, same
}

func (h *history) checkOne(t *rapid.T, spans map[int64]*span, e event) {
	possible, same := 0, 0 // PATs of the account that may have been there during the call
	for _, s := range spans {
		if s.account == e.account && s.making < e.end && e.begin < s.leaves {
			possible++
			if s.description == e.description {
				same++
			}
		}
	}
	s := spans[e.id]
	switch {
	case e.kind == "create" && errors.Is(e.err, pat.ErrTooMany):
		if possible < mostTokens {
			t.Fatalf("account %d was refused a PAT though it had at most %d", e.account, possible)
		}
	case e.kind == "create" && errors.Is(e.err, pat.ErrDescriptionExists):
		if same == 0 {
			t.Fatalf("account %d was refused %q though it had none", e.account, e.description)
		}
	case e.kind == "delete" && errors.Is(e.err, pat.ErrNotFound):
		if s.gone > e.end {
			t.Fatalf("PAT %d was not found before anybody deleted it", e.id)
		}
	case e.err != nil:
		t.Fatalf("%s: %v", e.kind, e.err)
	case e.kind == "use" && e.valid:
		if e.begin > s.leaves {
			t.Fatalf("PAT %d authenticates after its deletion", e.id)
		}
	case e.kind == "use":
		if e.end < s.gone {
			t.Fatalf("PAT %d does not authenticate before its deletion", e.id)
		}
	}
}

// TestLifeOfPATsAtOnce lets clients create, use and delete the same accounts' PATs at once. Whatever they are told must be what
// some order of their calls gives.
func TestLifeOfPATsAtOnce(t *testing.T) {
	t.Parallel()
	for name, ground := range grounds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := ground(t)
			base, last := int64(1), int64(0)
			orders := rapid.Custom(func(t *rapid.T) order {
				return order{
					kind: rapid.IntRange(0, 2).Draw(t, "kind"), account: rapid.IntRange(0, aPerson-1).Draw(t, "account"),
					description: rapid.IntRange(0, len(descriptions())-1).Draw(t, "description"), pick: rapid.IntRange(0, 31).Draw(t, "pick"),
				}
			})
			rapid.Check(t, func(t *rapid.T) {
				scripts := rapid.SliceOfN(rapid.SliceOfN(orders, 1, 8), clients, clients).Draw(t, "scripts")
				newAccounts(t, g, base)
				a := &authorizer.Authenticator{
					Tokens: g.Tokens, Now: func() time.Time { return later().AddDate(-1, 0, 0) }, Logger: slog.New(slog.DiscardHandler),
				}
				h := &history{}
				atOnce(clients, func(i int) {
					for _, o := range scripts[i] {
						h.obey(t, g, a, base, o)
					}
				})
				h.check(t, last)
				for _, s := range h.tokens {
					last = max(last, s.ID)
				}
				base += accounts + 1
			})
		})
	}
}
