package authorizer_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/dynamo"
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
	for _, tt := range []struct {
		fault    func(*database.Call) (*http.Response, error)
		deadline time.Duration
		took     time.Duration
	}{
		{func(c *database.Call) (*http.Response, error) { return c.Refuse("ValidationException") }, 10 * time.Second, 0},
		{(*database.Call).Hang, 10 * time.Second, time.Second},
		{(*database.Call).Hang, 1200 * time.Millisecond, 700 * time.Millisecond}, // less time left
	} {
		synctest.Test(t, func(t *testing.T) {
			a, _, log := f.authenticator(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == "UpdateItem" {
					return tt.fault(c)
				}
				c.Request.Close = true // simulated time stands still while a connection waits
				return c.Pass()
			})
			ctx, cancel := context.WithTimeout(t.Context(), tt.deadline)
			defer cancel()
			begin := time.Now()
			got, err := a.Authorize(ctx, request(token.Reveal()))
			if took := time.Since(begin); err != nil || got.PrincipalID != "user:1" || took != tt.took {
				t.Errorf("principal %q, %v, after %s", got.PrincipalID, err, took)
			}
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

// TestUnprocessedKeys leaves keys out of the first calls of a BatchGetItem.
func TestUnprocessedKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p, _ := f.pat(t, 1, nil)
	all := []string{f.Tables.PersonalAccessTokens, f.Tables.Users}
	for _, tt := range []struct {
		leave  []string
		rounds int
	}{{nil, 0}, {all, 1}, {all[:1], 2}, {all[1:], 1}, {all, 1 << 30}} {
		synctest.Test(t, func(t *testing.T) {
			client, tap := f.Through(t, func(c *database.Call) (*http.Response, error) {
				if strings.Count(c.Body, `"ConsistentRead":true`) != strings.Count(c.Body, `"Keys":`) {
					t.Errorf("not consistent: %s", c.Body)
				}
				c.Request.Close = true // simulated time stands still while a connection waits
				if c.N > tt.rounds {
					return c.Pass()
				}
				return withoutTables(t, c, tt.leave)
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, owner, err := authorizer.NewStore(client, f.Tables, f.LogThrough(client)).PAT(ctx, 1, p.ID)
			if tt.rounds > 2 {
				assert.ErrorIs(t, err, dynamo.ErrUnavailable)
			} else if calls := strings.Count(tap.Calls(), "BatchGetItem"); err != nil || got.ID != p.ID || owner.ID != 1 ||
				calls != tt.rounds+1 {
				t.Errorf("PAT %d, user %d, error %v after %d calls", got.ID, owner.ID, err, calls)
			}
		})
	}
}

// withoutTables removes the items of some tables from the response of a BatchGetItem and reports their keys as
// unprocessed.
func withoutTables(t *testing.T, c *database.Call, tables []string) (*http.Response, error) {
	t.Helper()
	var request struct{ RequestItems map[string]any }
	assert.OK(t, json.Unmarshal([]byte(c.Body), &request))
	response, err := c.Pass()
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var found struct{ Responses, UnprocessedKeys map[string]any }
	assert.OK(t, json.NewDecoder(response.Body).Decode(&found))
	for _, name := range tables {
		delete(found.Responses, name)
		found.UnprocessedKeys[name] = request.RequestItems[name]
	}
	body, err := json.Marshal(found)
	assert.OK(t, err)
	return c.Reply(http.StatusOK, string(body))
}
