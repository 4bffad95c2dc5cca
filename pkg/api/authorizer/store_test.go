package authorizer_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/table"
)

// seenAt returns what is stored.
func (f *fixture) seenAt(tb testing.TB, p pat.PAT) *time.Time {
	tb.Helper()
	return f.Get(tb, f.Tables.PersonalAccessTokens, pat.Key(p.UserID, p.ID)).Time(pat.AttributeSeenAt)
}

// TestSeenAtIsWrittenOncePerMinute sends two requests at the same time of the clock.
func TestSeenAtIsWrittenOncePerMinute(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, row := range table.Rows(t, 2, `
		# last seen | is written
		never | true
		0s | false
		59.999s | false
		60s | false
		60.001s | true
		# by another clock
		-1s | false
	`) {
		var seen *time.Time
		if ago, err := time.ParseDuration(row[0]); err == nil {
			seen = new(now().Add(-ago))
		}
		p, token := f.pat(t, 1, func(p *pat.PAT) { p.SeenAt = seen })
		a, tap, log := f.authenticator(t, nil)
		for range 2 {
			assert.Equal(t, "user:1", principal(t, a, token.Reveal()))
		}
		writes := 0
		if row[1] == "true" {
			writes, seen = 1, new(now())
		}
		assert.Equal(t, seen, f.seenAt(t, p))
		if strings.Count(tap.Calls(), "UpdateItem") != writes || log.Len() > 0 {
			t.Errorf("%s: calls %s, log %s", row[0], tap.Calls(), log)
		}
	}
}

// TestSeenDoesNotOverwrite checks the condition of the write, for requests that overlap.
func TestSeenDoesNotOverwrite(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p, token := f.pat(t, 1, nil)
	store, later := authorizer.NewStore(f.Client, f.Tables, f.Log()), now().Add(time.Minute)
	assert.OK(t, store.Seen(t.Context(), token, later, now())) // seen at now, which is not before now
	assert.Equal(t, new(now()), f.seenAt(t, p))
	assert.OK(t, store.Seen(t.Context(), token, later.Add(time.Microsecond), now().Add(time.Millisecond)))
	assert.Equal(t, &later, f.seenAt(t, p))
	assert.OK(t, f.pats.Delete(t.Context(), pat.AnyKind, 1, p.ID))
	assert.OK(t, store.Seen(t.Context(), token, later, later))
	_, _, err := store.PAT(t.Context(), 1, p.ID)
	assert.ErrorIs(t, err, pat.ErrNotFound)
}

// TestSeenAPIToken sends two requests at the same time of the clock.
func TestSeenAPIToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.apiToken(t, nil)
	a, tap, _ := f.authenticator(t, nil)
	for range 2 {
		principal(t, a, token.Reveal())
	}
	stored, err := f.apiTokens.Get(t.Context(), token.Selector)
	assert.OK(t, err)
	assert.Equal(t, new(now()), stored.SeenAt)
	assert.Equal(t, "GetItem UpdateItem GetItem", tap.Calls())
}

func TestFailedWriteOfSeenAtDoesNotFailTheRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p, token := f.pat(t, 1, func(p *pat.PAT) { p.SeenAt = nil })
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
	if got := f.seenAt(t, p); got != nil {
		t.Errorf("seenAt is %s", got)
	}
}

// TestUnprocessedKeys leaves the keys of both tables unprocessed, then that of the user.
func TestUnprocessedKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p, _ := f.pat(t, 1, nil)
	client, tap := f.Through(t, func(c *database.Call) (*http.Response, error) {
		keys := min(4-c.N, 2)
		assert.Equal(t, keys, strings.Count(c.Body, `"Keys":`))
		assert.Equal(t, keys, strings.Count(c.Body, `"ConsistentRead":true`))
		if c.N == 1 {
			return c.Reply(http.StatusOK, strings.Replace(c.Body, "RequestItems", "UnprocessedKeys", 1))
		}
		response, err := c.Pass()
		if err != nil || c.N == 3 {
			return response, err
		}
		body, err := io.ReadAll(response.Body)
		assert.OK(t, err, response.Body.Close())
		return c.Reply(http.StatusOK, strings.Replace(string(body), `"UnprocessedKeys":{`,
			`"UnprocessedKeys":{"`+f.Tables.Users+`":{"Keys":[{"id":{"N":"1"}}],"ConsistentRead":true}`, 1))
	})
	got, owner, err := authorizer.NewStore(client, f.Tables, f.Log()).PAT(t.Context(), 1, p.ID)
	assert.OK(t, err)
	assert.Equal(t, []int64{p.ID, 1}, []int64{got.ID, owner.ID})
	assert.Equal(t, strings.Repeat(" BatchGetItem", 3), " "+tap.Calls())
}
