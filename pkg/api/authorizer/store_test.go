package authorizer_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// seenAt returns what is stored for a PAT of user 1.
func (f *fixture) seenAt(tb testing.TB, id int64) *time.Time {
	tb.Helper()
	return f.Get(tb, f.Tables["PersonalAccessTokens"], pat.Key(1, id)).Time(pat.AttributeSeenAt)
}

// TestSeenAtIsWrittenOncePerMinute sends two requests at the same time of the clock.
func TestSeenAtIsWrittenOncePerMinute(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i, test := range []struct {
		seenAt *time.Time // before the requests
		writes int
	}{
		{nil, 1},
		{new(now()), 0},
		{new(now().Add(-time.Minute + time.Millisecond)), 0},
		{new(now().Add(-time.Minute)), 0},
		{new(now().Add(-time.Minute - time.Millisecond)), 1},
		{new(now().Add(time.Second)), 0}, // by another clock
	} {
		token := f.pat(t, 1, time.Minute)
		a, tap, log := f.authenticator(t, nil)
		want := new(now())
		if test.seenAt != nil {
			assert.OK(t, authorizer.NewStore(f.Client, f.Tables, nil).Seen(t.Context(), token, *test.seenAt, now()))
			if test.writes == 0 {
				want = test.seenAt
			}
		}
		for range 2 {
			assert.Equal(t, fmt.Sprintf("user:1 Allow map[name:Admin permissions:ADMIN role:Admin tokenId:%d userId:1]", i+1),
				authorize(t, a, token.Reveal()))
		}
		assert.Equal(t, want, f.seenAt(t, int64(i+1)))
		assert.Equal(t, test.writes, strings.Count(tap.Calls(), "UpdateItem"))
		assert.Equal(t, "", log.String())
	}
}

// TestSeenDoesNotOverwrite checks the condition of the write, for requests that overlap.
func TestSeenDoesNotOverwrite(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.pat(t, 1, time.Minute)
	store, later := authorizer.NewStore(f.Client, f.Tables, nil), now().Add(time.Minute)
	for _, times := range [][3]time.Time{
		// of the request, the latest that is replaced, and the stored one
		{now(), now(), now()}, {later, now(), now()}, // seen at now, which is not before now
		{later.Add(time.Microsecond), now().Add(time.Millisecond), later},
	} {
		assert.OK(t, store.Seen(t.Context(), token, times[0], times[1]))
		assert.Equal(t, &times[2], f.seenAt(t, 1))
	}
	assert.OK(t, f.pats.Delete(t.Context(), pat.AnyKind, 1, 1), store.Seen(t.Context(), token, later, later))
	_, _, err := f.pats.Get(t.Context(), 1, 1)
	assert.Equal(t, apierror.NotFound, apierror.KindOf(err))
}

func TestFailedWriteOfSeenAtDoesNotFailTheRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.pat(t, 1, time.Minute)
	for deadline, want := range map[time.Duration]time.Duration{
		10 * time.Second:        time.Second,
		1200 * time.Millisecond: 700 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			a, _, log := f.authenticator(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == "UpdateItem" {
					return c.Hang()
				}
				c.Request.Close = true // simulated time stands still while a connection waits
				return c.Pass()
			})
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			begin := time.Now()
			got, err := a.Authorize(ctx, request(token.Reveal()))
			assert.OK(t, err)
			assert.Equal(t, "user:1", got.PrincipalID)
			assert.Equal(t, want, time.Since(begin))
			if line := log.String(); strings.Count(line, "\n") != 1 || !strings.Contains(line, `"level":"WARN"`) ||
				strings.Contains(line, token.Reveal()) {
				t.Errorf("log %s", line)
			}
		})
	}
	assert.Equal(t, (*time.Time)(nil), f.seenAt(t, 1))
}
