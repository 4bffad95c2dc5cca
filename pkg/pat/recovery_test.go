package pat_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"os"
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

// creation is one call of Create whose requests a test intercepts.
type creation struct {
	*fixture
	tb     testing.TB
	cancel context.CancelFunc // ends the context of Create
	held   *database.Call     // a request that arrives late
}

// response is how the engine treats one request.
type response func(*creation, *database.Call) (*http.Response, error)

func pass(_ *creation, c *database.Call) (*http.Response, error) { return c.Pass() }
func lose(_ *creation, c *database.Call) (*http.Response, error) { return c.Lose() }
func fail(*creation, *database.Call) (*http.Response, error)     { return nil, errLost }

// hold keeps the request until arrive delivers it.
func hold(s *creation, c *database.Call) (*http.Response, error) {
	s.held = c
	return nil, errLost
}

// arrive delivers the held request before this one.
func arrive(s *creation, c *database.Call) (*http.Response, error) {
	s.deliver()
	return c.Pass()
}

func (s *creation) deliver() {
	s.held.Request = s.held.Request.WithContext(s.tb.Context())
	_, _ = s.held.Lose() //nolint:bodyclose // Lose returns no response
	s.held = nil
}

func throttle(_ *creation, c *database.Call) (*http.Response, error) {
	return c.Refuse("ProvisionedThroughputExceededException")
}

func conflict(_ *creation, c *database.Call) (*http.Response, error) {
	return c.Cancel("TransactionConflict", "None", "None")
}

// slow drops the response like a timeout, which uses up half of the client's retry quota.
func slow(next response) response {
	return func(s *creation, c *database.Call) (*http.Response, error) {
		_, _ = next(s, c)
		return nil, os.ErrDeadlineExceeded
	}
}

// ended ends the context of Create after the request.
func ended(next response) response {
	return func(s *creation, c *database.Call) (*http.Response, error) {
		defer s.cancel()
		return next(s, c)
	}
}

// raced creates another token before the request.
func raced(account int64, description string, next response) response {
	return func(s *creation, c *database.Call) (*http.Response, error) {
		s.create(s.tb, account, description)
		return next(s, c)
	}
}

// followed creates another token after the request.
func followed(next response) response {
	return func(s *creation, c *database.Call) (*http.Response, error) {
		defer s.create(s.tb, 2, "another")
		return next(s, c)
	}
}

// TestCreateRecovers checks that, whatever requests or responses are lost, either the caller has the token that is stored, or none is
// stored, not even later. A creation that lost a race is retried with the counter from the rejection.
func TestCreateRecovers(t *testing.T) {
	t.Parallel()
	type responses map[string]response // to the first request of an operation, and so on; by default it passes
	const g, x = get, transact
	for _, tt := range []struct {
		name      string
		forgetful bool // the engine has not stored the earlier request, because it was restarted or ten minutes have passed
		limit     int
		responses responses
		id        int64 // of the created token; 0: an error
		err       error
		nextID    int64
		calls     []string
	}{
		{"no response, the request is remembered", false, 10, responses{x + "1": lose}, 1, nil, 2, []string{x, x}},
		{"no response for the last place", true, 1, responses{x + "1": lose}, 1, nil, 2, []string{x, x, g}},
		{"no response, and another creation", true, 10, responses{x + "1": followed(lose)}, 1, nil, 3, []string{x, x, g}},
		{"no response, and the end during the search", true, 10, responses{x + "1": lose, g + "1": ended(fail)}, 1, nil, 2, []string{x, x, g, g}},
		{
			"no response, and no retries left", false, 10, responses{x + "1": slow(lose), x + "2": slow(fail), x + "3": slow(fail), g + "1": slow(fail)},
			1, nil, 2, []string{x, x, x, x, g, g},
		},
		{"no response at the end", false, 10, responses{x + "1": ended(lose)}, 1, nil, 2, []string{x, x, g}},
		{"the request arrives after the end", false, 10, responses{x + "1": ended(hold)}, 0, dynamo.ErrUnavailable, 2, []string{x, x}},
		{
			"the request arrives after the end, the id is taken", false, 10, responses{x + "1": ended(raced(2, "another", hold))},
			0, dynamo.ErrUnavailable, 2, []string{x, x, g},
		},
		{"the request arrives before the counter moves", false, 10, responses{x + "1": ended(hold), x + "2": arrive}, 1, nil, 2, []string{x, x, g}},
		{"throttled until the end", false, 10, responses{x + "1": ended(throttle)}, 0, dynamo.ErrUnavailable, 1, []string{x}},
		{"in conflict until the end", false, 10, responses{x + "1": ended(conflict)}, 0, dynamo.ErrUnavailable, 1, []string{x}},
		{
			"two lost races", false, 10, responses{x + "1": raced(2, "a", raced(2, "b", pass)), x + "2": raced(2, "c", pass)},
			4, nil, 5, []string{x, x, x},
		},
		{"a lost race at the end", false, 10, responses{x + "1": raced(2, "a", ended(pass))}, 0, dynamo.ErrUnavailable, 2, []string{x}},
		{"a lost race for the description", false, 10, responses{x + "1": raced(1, "ci", pass)}, 0, pat.ErrDescriptionExists, 2, []string{x, g}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := &creation{fixture: newFixture(t), tb: t, cancel: cancel}
			s.serviceAccounts(t, 1, 2)
			client, tap := s.Through(t, func(c *database.Call) (*http.Response, error) {
				if tt.forgetful {
					token := regexp.MustCompile(`"ClientRequestToken":"[^"]*"`)
					c.Body = token.ReplaceAllString(c.Body, `"ClientRequestToken":"`+rand.Text()+`"`)
				}
				if respond := tt.responses[c.Operation+string(rune('0'+c.N))]; respond != nil {
					return respond(s, c)
				}
				return c.Pass()
			})
			p, token, err := pat.NewStore(client, s.Tables, rand.Reader).Create(ctx, newPAT(1, "ci"), owner(tt.limit))
			if s.held != nil {
				s.deliver()
			}
			if !errors.Is(err, tt.err) || p.ID != tt.id {
				t.Errorf("PAT %d, error %v", p.ID, err)
			}
			if stored := pat.FromItem(s.Get(t, s.Tables.PersonalAccessTokens, pat.Key(1, tt.id))); tt.id != 0 &&
				(stored.Verifier != token.Verifier() || token.Selector != auth.PATSelector(1, tt.id)) {
				t.Error("the token is not the stored one")
			}
			if u, err := s.users.Get(t.Context(), 1); err != nil || errors.Is(tt.err, dynamo.ErrUnavailable) && len(u.PATs) != 0 {
				t.Errorf("a token is left: %v, %v", u.PATs, err)
			}
			if want := strings.Join(tt.calls, " "); tap.Calls() != want {
				t.Errorf("calls: %s\nwant:  %s", tap.Calls(), want)
			}
			s.requireConsistent(t)
			if next, _ := s.create(t, 1, "next"); next.ID != tt.nextID {
				t.Errorf("the next id is %d, want %d", next.ID, tt.nextID)
			}
		})
	}
}
