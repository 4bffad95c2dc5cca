package stores_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

const (
	get      = "GetItem"
	transact = "TransactWriteItems"
)

// forgotten is the call as an engine sees it that does not remember the attempt before it: restarted, or asked after ten minutes.
func (c *call) forgotten() *call {
	c.body = regexp.MustCompile(`"ClientRequestToken":"[^"]*"`).ReplaceAllString(c.body, `"ClientRequestToken":"`+rand.Text()+`"`)
	return c
}

// unavailable fails the test unless err is a fault of kind Unavailable.
func unavailable(tb testing.TB, err error) {
	tb.Helper()
	if apierror.From(err).Kind != apierror.Unavailable {
		tb.Errorf("error %v", err)
	}
}

// TestCreateWithoutAnswer: whatever becomes of the answer, either the caller has the token of the PAT that is stored, or no PAT is stored,
// not even later.
func TestCreateWithoutAnswer(t *testing.T) {
	t.Parallel()
	type scene struct {
		*ground
		db   *database
		end  context.CancelFunc // of the request's time
		held *call
	}
	for _, tt := range []struct {
		name   string
		limit  int
		answer func(*testing.T, *scene, *call) (*http.Response, error)
		made   bool // the creation succeeds
		late   bool // the held request reaches the engine when the creation has ended
		nextID int64
		calls  string
	}{
		{
			name: "the answer is lost and the engine remembers", limit: 10, made: true, nextID: 2, calls: get + " " + transact + " " + transact,
			answer: func(_ *testing.T, _ *scene, c *call) (*http.Response, error) {
				if c.operation == transact && c.n == 1 {
					return c.lose()
				}
				return c.pass()
			},
		},
		{
			name: "the answer is lost and the engine does not remember", limit: 10, made: true, nextID: 2,
			calls: get + " " + transact + " " + transact + " " + get,
			answer: func(_ *testing.T, _ *scene, c *call) (*http.Response, error) {
				if c.operation == transact && c.n == 1 {
					return c.forgotten().lose()
				}
				return c.forgotten().pass()
			},
		},
		{
			name: "so, and that took the last place", limit: 1, made: true, nextID: 2, calls: get + " " + transact + " " + transact + " " + get,
			answer: func(_ *testing.T, _ *scene, c *call) (*http.Response, error) {
				if c.operation == transact && c.n == 1 {
					return c.forgotten().lose()
				}
				return c.forgotten().pass()
			},
		},
		{
			name: "so, and another took the next id", limit: 10, made: true, nextID: 3, calls: get + " " + transact + " " + transact + " " + get,
			answer: func(t *testing.T, s *scene, c *call) (*http.Response, error) {
				t.Helper()
				if c.operation == transact && c.n == 1 {
					answer, err := c.forgotten().lose()
					create(t, s.ground, 2, "another")
					return answer, err
				}
				return c.forgotten().pass()
			},
		},
		{
			name: "so, and the time is over when it is found out", limit: 10, made: true, nextID: 2,
			calls: get + " " + transact + " " + transact + " " + get + " " + get,
			answer: func(_ *testing.T, s *scene, c *call) (*http.Response, error) {
				switch {
				case c.operation == transact && c.n == 1:
					return c.forgotten().lose()
				case c.operation == get && c.n == 2:
					s.end()
					return nil, errLost
				}
				return c.forgotten().pass()
			},
		},
		{
			name: "the answer is lost with the end of the time", limit: 10, made: true, nextID: 2,
			calls: get + " " + transact + " " + transact + " " + get,
			answer: func(_ *testing.T, s *scene, c *call) (*http.Response, error) {
				if c.operation == transact && c.n == 1 {
					defer s.end()
					return c.lose()
				}
				return c.pass()
			},
		},
		{
			name: "the request is on its way at the end of the time, and arrives later", limit: 10, late: true, nextID: 2,
			calls: get + " " + transact + " " + transact,
			answer: func(_ *testing.T, s *scene, c *call) (*http.Response, error) {
				if c.operation == transact && c.n == 1 {
					s.end()
					s.held = c
					return nil, errLost
				}
				return c.pass()
			},
		},
		{
			name: "so, and another took the id", limit: 10, late: true, nextID: 2, calls: get + " " + transact + " " + transact + " " + get,
			answer: func(t *testing.T, s *scene, c *call) (*http.Response, error) {
				t.Helper()
				if c.operation == transact && c.n == 1 {
					s.end()
					s.held = c
					create(t, s.ground, 2, "another")
					return nil, errLost
				}
				return c.pass()
			},
		},
		{
			name: "it arrives in the middle of finding out", limit: 10, made: true, nextID: 2, calls: get + " " + transact + " " + transact + " " + get,
			answer: func(t *testing.T, s *scene, c *call) (*http.Response, error) {
				t.Helper()
				switch {
				case c.operation == transact && c.n == 1:
					s.end()
					s.held = c
					s.held.request = c.request.WithContext(t.Context())
					return nil, errLost
				case c.operation == transact:
					if _, err := s.held.lose(); !errors.Is(err, errLost) {
						return nil, err
					}
				}
				return c.pass()
			},
		},
		{
			name: "refused for good until the time ends: nothing to find out", limit: 10, nextID: 1, calls: get + " " + transact,
			answer: func(_ *testing.T, s *scene, c *call) (*http.Response, error) {
				if c.operation == transact {
					s.end()
					return c.refuse("ProvisionedThroughputExceededException")
				}
				return c.pass()
			},
		},
		{
			name: "in conflict until the time ends: nothing to find out", limit: 10, nextID: 1, calls: get + " " + transact,
			answer: func(_ *testing.T, s *scene, c *call) (*http.Response, error) {
				if c.operation == transact {
					s.end()
					return c.cancel("TransactionConflict", "None", "None")
				}
				return c.pass()
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := newDatabase(t)
			s := &scene{ground: db.ground(t), db: db}
			account(t, s.ground, 1, user.ServiceAccount)
			account(t, s.ground, 2, user.ServiceAccount)
			client, tap := db.through(t, func(c *call) (*http.Response, error) { return tt.answer(t, s, c) })
			ctx, end := context.WithCancel(t.Context())
			defer end()
			s.end = end
			p, token, err := db.pats(client).Create(ctx, newPAT(1, "ci"), owner(tt.limit))
			if tt.late {
				s.held.request = s.held.request.WithContext(t.Context())
				if _, err := s.held.lose(); !errors.Is(err, errLost) { //nolint:bodyclose // lose gives no answer
					t.Fatal(err)
				}
			}
			u, lookErr := s.Users.Get(t.Context(), 1)
			check(t, lookErr)
			switch {
			case tt.made && err != nil:
				t.Error(err)
			case tt.made:
				stored, _, err := s.Tokens.PAT(t.Context(), 1, p.ID)
				check(t, err)
				if stored.Verifier != token.Verifier() || token.Selector != auth.PATSelector(1, p.ID) || p.ID != 1 {
					t.Errorf("the PAT that is stored has another secret or id than %d", p.ID)
				}
			default:
				unavailable(t, err)
				if len(u.PATs) != 0 {
					t.Errorf("a PAT is left: %v", u.PATs)
				}
			}
			if tap.calls() != tt.calls {
				t.Errorf("calls: %s\nwant:  %s", tap.calls(), tt.calls)
			}
			db.whole(t)
			if next, _ := create(t, s.ground, 1, "next"); next.ID != tt.nextID {
				t.Errorf("the next id is %d, want %d", next.ID, tt.nextID)
			}
		})
	}
}

// TestCreateLosesRaces: each lost race is tried again with the counter that the refusal tells, without reading it.
func TestCreateLosesRaces(t *testing.T) {
	t.Parallel()
	for _, races := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(races), func(t *testing.T) {
			t.Parallel()
			db := newDatabase(t)
			g := db.ground(t)
			account(t, g, 1, user.ServiceAccount)
			client, tap := db.through(t, func(c *call) (*http.Response, error) {
				if c.operation == transact && c.n <= races {
					create(t, g, 1, fmt.Sprint("winner ", c.n))
					create(t, g, 1, fmt.Sprint("its second ", c.n))
				}
				return c.pass()
			})
			p, _, err := db.pats(client).Create(within(t, 10*time.Second), newPAT(1, "ci"), owner(10))
			check(t, err)
			want := get + strings.Repeat(" "+transact, races+1)
			if p.ID != 2*int64(races)+1 || tap.calls() != want {
				t.Errorf("id %d after %s, want %s", p.ID, tap.calls(), want)
			}
			db.whole(t)
		})
	}
	t.Run("until the time is over: unavailable, nothing written", func(t *testing.T) {
		t.Parallel()
		db := newDatabase(t)
		g := db.ground(t)
		account(t, g, 1, user.ServiceAccount)
		account(t, g, 2, user.ServiceAccount)
		ctx, end := context.WithCancel(t.Context())
		client, tap := db.through(t, func(c *call) (*http.Response, error) {
			if c.operation == transact {
				create(t, g, 2, fmt.Sprint("winner ", c.n))
			}
			answer, err := c.pass()
			if err == nil && c.n == 3 {
				err = answer.Body.Close()
				answer, _ = c.cancel("ConditionalCheckFailed", "None", "None")
				end()
			}
			return answer, err
		})
		_, _, err := db.pats(client).Create(ctx, newPAT(1, "ci"), owner(10))
		unavailable(t, err)
		if want := get + strings.Repeat(" "+transact, 3); tap.calls() != want {
			t.Errorf("calls: %s, want %s", tap.calls(), want)
		}
		u, err := g.Users.Get(t.Context(), 1)
		check(t, err)
		if len(u.PATs) != 0 {
			t.Errorf("a PAT is left: %v", u.PATs)
		}
		db.whole(t)
	})
	t.Run("a description that another took meanwhile is not ours", func(t *testing.T) {
		t.Parallel()
		db := newDatabase(t)
		g := db.ground(t)
		account(t, g, 1, user.ServiceAccount)
		client, tap := db.through(t, func(c *call) (*http.Response, error) {
			if c.operation == transact && c.n == 1 {
				create(t, g, 1, "ci")
			}
			return c.pass()
		})
		_, _, err := db.pats(client).Create(t.Context(), newPAT(1, "ci"), owner(10))
		if !errors.Is(err, pat.ErrDescriptionExists) {
			t.Errorf("%v after %s", err, tap.calls())
		}
		db.whole(t)
	})
}

// TestCreateTakesTurns: creations of one process lose no races against each other, and one that waits too long calls nothing.
func TestCreateTakesTurns(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	account(t, db.ground(t), 1, user.ServiceAccount)
	entered, proceed := make(chan struct{}), make(chan struct{})
	client, tap := db.through(t, func(c *call) (*http.Response, error) {
		if c.operation == get && c.n == 1 {
			close(entered)
			<-proceed
		}
		return c.pass()
	})
	store := db.pats(client)
	first := make(chan error, 1)
	go func() {
		_, _, err := store.Create(t.Context(), newPAT(1, "first"), owner(100))
		first <- err
	}()
	<-entered
	ctx, end := context.WithCancel(t.Context())
	end()
	_, _, err := store.Create(ctx, newPAT(1, "too late"), owner(100))
	unavailable(t, err)
	if tap.calls() != get {
		t.Errorf("calls of one without a turn: %s", tap.calls())
	}
	close(proceed)
	check(t, <-first)
	atOnce(clients, func(i int) {
		if _, _, err := store.Create(t.Context(), newPAT(1, fmt.Sprint(i)), owner(100)); err != nil {
			t.Error(err)
		}
	})
	if n := strings.Count(tap.calls(), transact); n != clients+1 {
		t.Errorf("%d transactions for %d PATs", n, clients+1)
	}
	db.whole(t)
}
