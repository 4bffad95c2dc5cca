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
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

const (
	get      = "GetItem"
	transact = "TransactWriteItems"
	count    = "UpdateItem"
)

// TestCreateSettles checks that a creation whose response is lost sends the same transaction until it is settled: the
// caller has the token that is stored.
func TestCreateSettles(t *testing.T) {
	t.Parallel()
	lose := (*database.Call).Lose
	timeout := func(c *database.Call) (*http.Response, error) { // uses up half of the client's retry quota
		_, _ = c.Lose()
		return nil, os.ErrDeadlineExceeded
	}
	throttle := func(c *database.Call) (*http.Response, error) {
		return c.Refuse("ProvisionedThroughputExceededException")
	}
	type response = func(*database.Call) (*http.Response, error)
	for _, tt := range []struct {
		name string
		// the engine does not remember the client request token, because it was restarted or ten minutes have passed
		forgetful bool
		responses []response // to the first transactions; further ones pass
	}{
		{"no response", false, []response{lose}},
		{"no response, and the request is forgotten", true, []response{lose}},
		{"no response, and no retries are left", false, []response{timeout, timeout, timeout, timeout}},
		{"no response, then throttled", true, []response{timeout, timeout, timeout, throttle}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.serviceAccounts(t, 1)
			token, tokens := regexp.MustCompile(`"ClientRequestToken":"[^"]*"`), map[string]bool{}
			calls := 0
			client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation != transact {
					return c.Pass()
				}
				calls++
				tokens[token.FindString(c.Body)] = true
				if tt.forgetful {
					c.Body = token.ReplaceAllString(c.Body, `"ClientRequestToken":"`+rand.Text()+`"`)
				}
				if c.N <= len(tt.responses) {
					return tt.responses[c.N-1](c)
				}
				return c.Pass()
			})
			p, created, err := pat.NewStore(client, f.Tables, f.LogThrough(client), rand.Reader).Create(t.Context(),
				newPAT(1, "ci"), owner(1))
			if err != nil || p.ID != 1 || calls != len(tt.responses)+1 || len(tokens) != 1 || tokens[""] {
				t.Errorf("PAT %d, error %v, %d transactions with %d client request tokens", p.ID, err, calls, len(tokens))
			}
			if stored := pat.FromItem(f.Get(t, f.Tables.PersonalAccessTokens,
				pat.Key(1, 1))); stored.Verifier != created.Verifier() {
				t.Error("the token is not the stored one")
			}
			f.requireConsistent(t)
		})
	}
}

// TestCreateWithoutResponse checks that a creation ends with its context, and that a lost response to the counter is a
// gap.
func TestCreateWithoutResponse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	client, tap := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == count && c.N == 1 {
			return c.Lose()
		}
		if c.Operation == transact && c.N == 2 {
			cancel()
		}
		return c.Refuse("InternalServerError")
	})
	store := pat.NewStore(client, f.Tables, f.LogThrough(client), rand.Reader)
	if _, _, err := store.Create(ctx, newPAT(1, "ci"), owner(1)); !errors.Is(err, dynamo.ErrUnavailable) {
		t.Error(err, tap.Calls())
	}
	if p, _ := f.create(t, 1, "next"); p.ID != 2 {
		t.Errorf("id %d", p.ID)
	}
}

// TestCreatedAtRises checks that createdAt never falls as ids rise, although the clocks of processes differ, and that a
// clock that is behind costs one more call.
func TestCreatedAtRises(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1)
	client, tap := f.Through(t, nil)
	store := pat.NewStore(client, f.Tables, f.LogThrough(client), rand.Reader)
	for i, tt := range []struct{ clock, want int }{{0, 0}, {0, 0}, {250, 250}, {249, 250}, {0, 250}, {251, 251}} {
		p := newPAT(1, strings.Repeat("d", i+1))
		p.CreatedAt = p.CreatedAt.Add(time.Duration(tt.clock) * time.Millisecond)
		got, _, err := store.Create(t.Context(), p, owner(100))
		if want := now().Add(time.Duration(tt.want) * time.Millisecond); err != nil || got.ID != int64(i+1) ||
			!got.CreatedAt.Equal(want) {
			t.Errorf("%v: PAT %d created at %v, want %v, error %v", tt, got.ID, got.CreatedAt, want, err)
		}
	}
	create, behind := count+" "+transact+" ", count+" "
	if want := create + create + create + behind + create + behind + create + create; tap.Calls()+" " != want {
		t.Errorf("calls: %s\nwant:  %s", tap.Calls(), want)
	}
}
