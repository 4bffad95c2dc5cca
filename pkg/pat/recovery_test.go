package pat_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
	"toggleadmin/test/database"
)

const (
	get      = "GetItem"
	transact = "TransactWriteItems"
)

var errLost = errors.New("the connection broke")

// forget changes a call as if the engine did not remember the attempt before it, because it was restarted or ten minutes have passed.
func forget(c *database.Call) *database.Call {
	c.Body = regexp.MustCompile(`"ClientRequestToken":"[^"]*"`).ReplaceAllString(c.Body, `"ClientRequestToken":"`+rand.Text()+`"`)
	return c
}

// creation is one call of Create whose requests a test intercepts.
type creation struct {
	*fixture
	cancel context.CancelFunc // ends the context of Create
	held   *database.Call     // a request that arrives after Create has returned
}

// hold ends the context of Create while the request c is on its way.
func (s *creation) hold(c *database.Call) (*http.Response, error) {
	s.cancel()
	s.held = c
	return nil, errLost
}

// arrive delivers the held request.
func (s *creation) arrive(t *testing.T) {
	t.Helper()
	s.held.Request = s.held.Request.WithContext(t.Context())
	if response, err := s.held.Lose(); err == nil || response != nil {
		t.Errorf("the held request got a response: %v", err)
	}
}

// TestCreateWithoutResponse checks that, whatever happens to the responses, either the caller has the token that is stored, or none is
// stored, not even later.
func TestCreateWithoutResponse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		limit   int
		respond func(*testing.T, *creation, *database.Call) (*http.Response, error)
		created bool
		nextID  int64
		calls   string
	}{
		{
			name: "the response is lost and the engine remembers the request", limit: 10, created: true, nextID: 2,
			calls: get + " " + transact + " " + transact,
			respond: func(_ *testing.T, _ *creation, c *database.Call) (*http.Response, error) {
				if c.Operation == transact && c.N == 1 {
					return c.Lose()
				}
				return c.Pass()
			},
		},
		{
			name: "the response is lost and the token has the last place", limit: 1, created: true, nextID: 2,
			calls: get + " " + transact + " " + transact + " " + get,
			respond: func(_ *testing.T, _ *creation, c *database.Call) (*http.Response, error) {
				if c.Operation == transact && c.N == 1 {
					return forget(c).Lose()
				}
				return forget(c).Pass()
			},
		},
		{
			name: "the response is lost and another token is created", limit: 10, created: true, nextID: 3,
			calls: get + " " + transact + " " + transact + " " + get,
			respond: func(t *testing.T, s *creation, c *database.Call) (*http.Response, error) {
				t.Helper()
				if c.Operation == transact && c.N == 1 {
					response, err := forget(c).Lose()
					s.create(t, 2, "another")
					return response, err
				}
				return forget(c).Pass()
			},
		},
		{
			name: "the response is lost and the context ends during the search", limit: 10, created: true, nextID: 2,
			calls: get + " " + transact + " " + transact + " " + get + " " + get,
			respond: func(_ *testing.T, s *creation, c *database.Call) (*http.Response, error) {
				switch {
				case c.Operation == transact && c.N == 1:
					return forget(c).Lose()
				case c.Operation == get && c.N == 2:
					s.cancel()
					return nil, errLost
				}
				return forget(c).Pass()
			},
		},
		{
			name: "the response is lost when the context ends", limit: 10, created: true, nextID: 2,
			calls: get + " " + transact + " " + transact + " " + get,
			respond: func(_ *testing.T, s *creation, c *database.Call) (*http.Response, error) {
				if c.Operation == transact && c.N == 1 {
					defer s.cancel()
					return c.Lose()
				}
				return c.Pass()
			},
		},
		{
			name: "the request arrives after the end", limit: 10, nextID: 2, calls: get + " " + transact + " " + transact,
			respond: func(_ *testing.T, s *creation, c *database.Call) (*http.Response, error) {
				if c.Operation == transact && c.N == 1 {
					return s.hold(c)
				}
				return c.Pass()
			},
		},
		{
			name: "the request arrives after the end and another token has the id", limit: 10, nextID: 2,
			calls: get + " " + transact + " " + transact + " " + get,
			respond: func(t *testing.T, s *creation, c *database.Call) (*http.Response, error) {
				t.Helper()
				if c.Operation == transact && c.N == 1 {
					s.create(t, 2, "another")
					return s.hold(c)
				}
				return c.Pass()
			},
		},
		{
			name: "the request arrives just before the counter moves", limit: 10, created: true, nextID: 2,
			calls: get + " " + transact + " " + transact + " " + get,
			respond: func(t *testing.T, s *creation, c *database.Call) (*http.Response, error) {
				t.Helper()
				switch {
				case c.Operation == transact && c.N == 1:
					return s.hold(c)
				case c.Operation == transact:
					s.arrive(t)
					s.held = nil
				}
				return c.Pass()
			},
		},
		{
			name: "throttled until the context ends", limit: 10, nextID: 1, calls: get + " " + transact,
			respond: func(_ *testing.T, s *creation, c *database.Call) (*http.Response, error) {
				if c.Operation == transact {
					s.cancel()
					return c.Refuse("ProvisionedThroughputExceededException")
				}
				return c.Pass()
			},
		},
		{
			name: "in conflict until the context ends", limit: 10, nextID: 1, calls: get + " " + transact,
			respond: func(_ *testing.T, s *creation, c *database.Call) (*http.Response, error) {
				if c.Operation == transact {
					s.cancel()
					return c.Cancel("TransactionConflict", "None", "None")
				}
				return c.Pass()
			},
		},
		{
			name: "no response to anything after the request", limit: 10, nextID: 1, calls: "",
			respond: func(_ *testing.T, s *creation, c *database.Call) (*http.Response, error) {
				if c.Operation == transact {
					s.cancel()
				}
				if c.Operation == transact || c.N > 1 {
					return nil, errLost
				}
				return c.Pass()
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &creation{fixture: newFixture(t)}
			s.serviceAccounts(t, 1, 2)
			client, tap := s.Through(t, func(c *database.Call) (*http.Response, error) { return tt.respond(t, s, c) })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.cancel = cancel
			p, token, err := pat.NewStore(client, s.Tables, rand.Reader).Create(ctx, newPAT(1, "ci"), owner(tt.limit))
			if s.held != nil {
				s.arrive(t)
			}
			stored := pat.FromItem(s.Get(t, s.Tables.PersonalAccessTokens, pat.Key(1, 1)))
			switch {
			case tt.created && (err != nil || p.ID != 1 || stored.Verifier != token.Verifier() || token.Selector != auth.PATSelector(1, 1)):
				t.Errorf("PAT %d is not the stored one, %v", p.ID, err)
			case !tt.created && (!errors.Is(err, dynamo.ErrUnavailable) || stored.ID != 0):
				t.Errorf("error %v, stored %+v", err, stored)
			}
			if tt.calls != "" && tap.Calls() != tt.calls {
				t.Errorf("calls: %s\nwant:  %s", tap.Calls(), tt.calls)
			}
			s.requireConsistent(t)
			if next, _ := s.create(t, 1, "next"); next.ID != tt.nextID {
				t.Errorf("the next id is %d, want %d", next.ID, tt.nextID)
			}
		})
	}
}

// TestCreateRepeatsLostRaces checks that Create tries again with the counter of the refusal, and does not read the counter again.
func TestCreateRepeatsLostRaces(t *testing.T) {
	t.Parallel()
	for _, races := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(races), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.serviceAccounts(t, 1)
			client, tap := f.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == transact && c.N <= races {
					f.create(t, 1, fmt.Sprint("winner ", c.N))
					f.create(t, 1, fmt.Sprint("its second ", c.N))
				}
				return c.Pass()
			})
			p, _, err := pat.NewStore(client, f.Tables, rand.Reader).Create(t.Context(), newPAT(1, "ci"), owner(10))
			want := get + strings.Repeat(" "+transact, races+1)
			if err != nil || p.ID != 2*int64(races)+1 || tap.Calls() != want {
				t.Errorf("id %d, %v after %s, want %s", p.ID, err, tap.Calls(), want)
			}
			f.requireConsistent(t)
		})
	}
	t.Run("until the context ends", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.serviceAccounts(t, 1, 2)
		ctx, cancel := context.WithCancel(t.Context())
		client, tap := f.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation == transact {
				f.create(t, 2, fmt.Sprint("winner ", c.N))
			}
			if c.N == 3 {
				cancel()
				return c.Cancel("ConditionalCheckFailed", "None", "None")
			}
			return c.Pass()
		})
		_, _, err := pat.NewStore(client, f.Tables, rand.Reader).Create(ctx, newPAT(1, "ci"), owner(10))
		if want := get + strings.Repeat(" "+transact, 3); !errors.Is(err, dynamo.ErrUnavailable) || tap.Calls() != want {
			t.Errorf("%v after %s, want %s", err, tap.Calls(), want)
		}
		if tokens := f.user(t, 1).PATs; len(tokens) != 0 {
			t.Errorf("a token was written: %v", tokens)
		}
	})
	t.Run("against the same description", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.serviceAccounts(t, 1)
		client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation == transact {
				f.create(t, 1, "ci")
			}
			return c.Pass()
		})
		_, _, err := pat.NewStore(client, f.Tables, rand.Reader).Create(t.Context(), newPAT(1, "ci"), owner(10))
		if !errors.Is(err, pat.ErrDescriptionExists) {
			t.Error(err)
		}
		f.requireConsistent(t)
	})
}
