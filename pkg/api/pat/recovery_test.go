package pat_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// TestCreateSettles checks that a creation without responses returns the token that is stored. The id without a response
// is a gap.
func TestCreateSettles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.N == 1 {
			return c.Lose()
		}
		return c.Pass()
	})
	p, created, err := f.through(client).Create(t.Context(), newPAT(1, "ci"), pat.Owner{Limit: 1})
	assert.OK(t, err)
	stored, err := pat.FromItem(f.Get(t, f.Tables["PersonalAccessTokens"], pat.Key(1, 2)))
	assert.OK(t, err)
	assert.Equal(t, stored, p)
	assert.Equal(t, stored.Verifier, created.Verifier())
	f.requireConsistent(t)
}

// TestFastClock checks that a process whose clock is far ahead, such as an operator's computer, does not decide when
// later tokens were created and whether they are about to expire. Up to an hour, times still never fall.
func TestFastClock(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]time.Duration{
		time.Hour: time.Hour, time.Hour + time.Millisecond: 0, 365 * day: 0,
	} {
		f := newFixture(t, 1, 2)
		fast := newPAT(1, "operator")
		fast.CreatedAt, fast.ExpiresAt = now().Add(ahead), now().Add(2*ahead)
		f.create(t, fast)
		for _, description := range []string{"pipeline", "another"} {
			p := newPAT(2, description)
			p.ExpiresAt = now().Add(2 * time.Hour)
			p = f.create(t, p)
			assert.Equal(t, now().Add(want), p.CreatedAt)
			assert.Equal(t, int64(0), p.AnnouncedDays)
		}
	}
}

// The clock of another process does not make the life of a token shorter.
func TestShortLifeByTheOwnClock(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, 2)
	ahead := newPAT(1, "ahead")
	ahead.CreatedAt = now().Add(time.Hour)
	f.create(t, ahead)
	p := newPAT(2, "pipeline")
	p.ExpiresAt = now().Add(90 * time.Minute)
	assert.Equal(t, int64(0), f.create(t, p).AnnouncedDays)
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
		got, _, err := f.through(client).Create(t.Context(), p, pat.Owner{Limit: 100})
		assert.OK(t, err)
		assert.Equal(t, int64(i+1), got.ID)
		assert.Equal(t, now().Add(time.Duration(tt.want)*time.Millisecond), got.CreatedAt)
	}
	assert.Equal(t, 6+2, strings.Count(tap.Calls(), count))
	assert.Equal(t, 6, strings.Count(tap.Calls(), transact))
}
