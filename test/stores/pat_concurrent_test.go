package stores_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// clients is how many goroutines work at once.
const clients = 16

// atOnce runs f that many times at once and waits.
func atOnce(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

func patsAtOnce() []property {
	return []property{
		{"ids are unique, without gaps, and rise in the order of commits", func(t *testing.T, g *ground) {
			const accounts, each = 4, 5
			for id := range int64(accounts) {
				account(t, g, id+1, user.ServiceAccount)
			}
			var mu sync.Mutex
			highest, ids := int64(0), map[int64]bool{} // what is known to be committed
			atOnce(clients, func(i int) {
				for n := range each {
					mu.Lock()
					before := highest
					mu.Unlock()
					p, _, err := g.PATs.Create(t.Context(), newPAT(int64(i%accounts)+1, fmt.Sprint(i, n)), owner(100))
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if p.ID <= before || ids[p.ID] {
						t.Errorf("PAT %d was created after PAT %d", p.ID, before)
					}
					ids[p.ID], highest = true, max(highest, p.ID)
					mu.Unlock()
				}
			})
			if highest != clients*each || len(ids) != clients*each {
				t.Errorf("%d ids, the highest is %d", len(ids), highest)
			}
		}},
		{"one description, many creators: one wins", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			outcomes := make([]error, clients)
			atOnce(clients, func(i int) { _, _, outcomes[i] = g.PATs.Create(t.Context(), newPAT(1, "ci"), owner(100)) })
			oneWins(t, outcomes, pat.ErrDescriptionExists)
		}},
		{"one place left, many creators: one wins", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			create(t, g, 1, "first")
			outcomes := make([]error, clients)
			atOnce(clients, func(i int) { _, _, outcomes[i] = g.PATs.Create(t.Context(), newPAT(1, fmt.Sprint(i)), owner(2)) })
			oneWins(t, outcomes, pat.ErrTooMany)
		}},
		{"one PAT, many deletions: one wins", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			p, _ := create(t, g, 1, "ci")
			outcomes := make([]error, clients)
			atOnce(clients, func(i int) { outcomes[i] = g.PATs.Delete(t.Context(), 1, p.ID) })
			oneWins(t, outcomes, pat.ErrNotFound)
		}},
		{"deletions and creations of one description leave the place and the PAT in step", func(t *testing.T, g *ground) {
			account(t, g, 1, user.ServiceAccount)
			atOnce(clients, func(int) {
				for range 4 {
					p, _, err := g.PATs.Create(t.Context(), newPAT(1, "ci"), owner(1))
					switch {
					case err == nil:
						if err := g.PATs.Delete(t.Context(), 1, p.ID); err != nil {
							t.Errorf("delete PAT %d: %v", p.ID, err)
						}
					case !errors.Is(err, pat.ErrTooMany):
						t.Error(err)
					}
				}
			})
			u, err := g.Users.Get(t.Context(), 1)
			check(t, err)
			if len(u.PATs) != 0 {
				t.Errorf("places still taken: %v", u.PATs)
			}
			create(t, g, 1, "ci")
		}},
	}
}

// oneWins fails the test unless one outcome is nil and the others are the error.
func oneWins(tb testing.TB, outcomes []error, others error) {
	tb.Helper()
	won := 0
	for _, err := range outcomes {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, others):
			tb.Error(err)
		}
	}
	if won != 1 {
		tb.Errorf("%d won", won)
	}
}
