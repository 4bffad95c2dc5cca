package pat_test

import (
	"crypto/rand"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// TestCreateSettles checks that a creation without responses sends the same transaction until it is settled, although
// the engine forgets the client request token: the caller has the token that is stored. The id without a response is a
// gap.
func TestCreateSettles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	token, tokens := regexp.MustCompile(`"ClientRequestToken":"[^"]*"`), map[string]int{}
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == count && c.N == 1 {
			return c.Lose()
		}
		if c.Operation != transact {
			return c.Pass()
		}
		tokens[token.FindString(c.Body)] = c.N
		c.Body = token.ReplaceAllString(c.Body, `"ClientRequestToken":"`+rand.Text()+`"`)
		switch {
		case c.N <= 3:
			_, _ = c.Lose()
			return nil, os.ErrDeadlineExceeded // uses up half of the client's retry quota
		case c.N == 4:
			return c.Refuse("ProvisionedThroughputExceededException")
		}
		return c.Pass()
	})
	p, created, err := f.through(client).Create(t.Context(), newPAT(1, "ci"), owner(1))
	assert.OK(t, err)
	for _, calls := range tokens {
		if len(tokens) != 1 || tokens[""] > 0 || calls != 5 || p.ID != 2 {
			t.Errorf("PAT %d, calls by client request token: %v", p.ID, tokens)
		}
	}
	stored := pat.FromItem(f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(1, 2)))
	assert.Equal(t, created.Verifier(), stored.Verifier)
	f.requireConsistent(t)
}

// TestCreatedAtRises checks that createdAt never falls as ids rise, although the clocks of processes differ, and that a
// clock that is behind costs one more call.
func TestCreatedAtRises(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	client, tap := f.Through(t, nil)
	for i, tt := range []struct{ clock, want int }{{0, 0}, {0, 0}, {250, 250}, {249, 250}, {0, 250}, {251, 251}} {
		p := newPAT(1, strings.Repeat("d", i+1))
		p.CreatedAt = p.CreatedAt.Add(time.Duration(tt.clock) * time.Millisecond)
		got, _, err := f.through(client).Create(t.Context(), p, owner(100))
		assert.OK(t, err)
		assert.Equal(t, int64(i+1), got.ID)
		assert.Equal(t, now().Add(time.Duration(tt.want)*time.Millisecond), got.CreatedAt)
	}
	create, behind := " "+count+" "+transact, " "+count
	assert.Equal(t, create+create+create+behind+create+behind+create+create, " "+tap.Calls())
}
