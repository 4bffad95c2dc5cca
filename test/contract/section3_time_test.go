package contract_test

import (
	"crypto/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
	return now
}

func (c *clock) forward(d time.Duration) time.Time { return c.set(c.Now().Add(d)) }

// seenAt is a PAT's as it is stored.
func (s *service) seenAt(t *testing.T, owner, id int64) string {
	t.Helper()
	return s.item(t, "PersonalAccessTokens", pat.Key(owner, id)).String("seenAt")
}

// TestSection3_SeenAt: "set by the first request that a PAT authenticates, at once, and then refreshed when it is older than 60 s. A failed
// write of seenAt never fails the request."
func TestSection3_SeenAt(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 678_901_234, time.UTC)}
	f := &faults{}
	s := start(t, options{now: c.Now, faults: f})
	admin, account := s.admin(t), s.serviceAccount(t)
	created := s.createToken(t, admin, account, newToken())
	use := func(path string, status int) {
		t.Helper()
		s.send(t, get(path).as(created.Secret)).want(t, status)
	}
	want := func(at string) {
		t.Helper()
		if got := s.seenAt(t, account, created.ID); got != at {
			t.Fatalf("seenAt is %q, want %q", got, at)
		}
	}
	want("") // null until first used (specification, section 3)
	first := c.forward(time.Hour)
	use(trafficPath("2026-01"), 403) // authenticated, if not permitted
	want(datetime.Format(first))
	c.set(first.Add(59*time.Second + 999*time.Millisecond))
	use(typesPath, 200)
	want(datetime.Format(first))
	second := c.set(first.Add(60*time.Second + time.Millisecond))
	use(typesPath, 200)
	want(datetime.Format(second))

	f.set(func(operation string, _ any) outcome {
		if operation == "UpdateItem" {
			return fails
		}
		return succeeds
	})
	c.forward(time.Hour)
	use(typesPath, 200)
	if f.attempts.Load() == 0 {
		t.Error("no write of seenAt was tried")
	}
	want(datetime.Format(second))
	f.set(nil)
	third := c.forward(time.Second)
	use(typesPath, 200)
	want(datetime.Format(third))
}

// TestSection3_Expiry: "Expiry is checked in code at each request": a token is good up to its expiry and not at it.
func TestSection3_Expiry(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	s := start(t, options{now: c.Now})
	expires := c.Now().Add(time.Hour)
	_, pat := s.patUntil(t, s.account(t, user.Person, auth.RoleViewer), user.Person, expires)
	api := s.apiTokenUntil(t, &expires).Reveal()
	for _, tt := range []struct {
		now    time.Time
		status int
	}{{expires.Add(-time.Millisecond), 200}, {expires, 401}, {expires.AddDate(10, 0, 0), 401}} {
		c.set(tt.now)
		for _, token := range []string{pat, api} {
			s.send(t, get(typesPath).as(token)).want(t, tt.status)
		}
	}
}

// TestSection3_AuthorizerReadsAnew: "the authorizer's cache is off by default": a token is looked up for each request, in
// one read; a malformed one never is.
func TestSection3_AuthorizerReadsAnew(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var reads []string
	f := &faults{}
	s := start(t, options{faults: f})
	token := s.viewer(t)
	unknown, err := auth.NewToken(auth.APIToken, auth.Selector{1}, rand.Reader)
	must(t, err)
	f.set(func(operation string, input any) outcome {
		mu.Lock()
		defer mu.Unlock()
		switch input.(type) {
		case *dynamodb.BatchGetItemInput, *dynamodb.GetItemInput:
			reads = append(reads, operation)
		}
		return succeeds
	})
	for _, token := range []string{token, token, respell(token), s.APIToken, s.APIToken, unknown.Reveal()} {
		s.send(t, get(typesPath).as(token))
	}
	mu.Lock()
	defer mu.Unlock()
	want := append(slices.Repeat([]string{"BatchGetItem"}, 2), slices.Repeat([]string{"GetItem"}, 3)...)
	if diff := cmp.Diff(want, reads); diff != "" {
		t.Errorf("the authorizer's reads: %s", diff)
	}
}
