package pat_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/database"
)

// as returns the context of a request by a principal.
func as(ctx context.Context, p access.Principal, request string) context.Context {
	return access.WithPrincipal(lambdahttp.WithGateway(ctx, lambdahttp.Gateway{RequestID: request}), p)
}

// eventsSince returns the events in the log after the first n.
func (f *fixture) eventsSince(tb testing.TB, n int) []string {
	tb.Helper()
	return f.Events(tb)[n:]
}

// TestEvents checks what the writes of tokens record: the type depends on the operation, not on the owner.
func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 4)
	before := len(f.Events(t))
	own := as(t.Context(), access.Principal{ID: "user:4", UserID: 4, Name: "ci", TokenID: "9"}, "r1")
	admin := as(t.Context(), access.Principal{ID: "user:1", UserID: 1, Name: "Ada"}, "r2")
	other := as(t.Context(), access.Principal{ID: "api-token:s", Name: "API token x", TokenID: "s"}, "r3")
	create := func(ctx context.Context, description string, kind user.Kind, life time.Duration) error {
		p := newPAT(4, description)
		p.ExpiresAt = now().Add(life)
		_, _, err := f.pats.Create(ctx, p, pat.Owner{Kind: kind, Limit: 3})
		return err
	}
	if err := errors.Join(
		create(own, "own", pat.AnyKind, 20*day), create(admin, "theirs", user.ServiceAccount, 20*day),
		create(own, "short", pat.AnyKind, time.Minute),
		f.pats.Delete(other, user.ServiceAccount, 4, 1), f.pats.Delete(own, pat.AnyKind, 4, 2),
	); err != nil {
		t.Fatal(err)
	}
	if err := create(own, "short", pat.AnyKind, day); !errors.Is(err, pat.ErrDescriptionExists) {
		t.Error(err)
	}
	if err := f.pats.Delete(own, pat.AnyKind, 4, 1); !errors.Is(err, pat.ErrNotFound) {
		t.Error(err)
	}
	token := func(id, description, expires string) string {
		return `{"id":"` + id + `","userId":4,"description":"` + description + `","expiresAt":"` + expires + `"}`
	}
	one, two := token("1", "own", "2026-12-10T05:39:00.123Z"), token("2", "theirs", "2026-12-10T05:39:00.123Z")
	want := []string{
		"pat-created pat:1 by ci, user 4, token 9, request r1: " + one,
		"service-account-token-created pat:2 by Ada, user 1, request r2: " + two,
		"pat-created pat:3 by ci, user 4, token 9, request r1: " + token("3", "short", "2026-11-20T05:40:00.123Z"),
		`token-expiring pat:3 by system, request r1: {"id":3,"userId":4,"description":"short","expiresAt":"2026-11-20T05:40:00.123Z","days":1}`,
		"service-account-token-deleted pat:1 by API token x, token s, request r3: before " + one,
		"pat-deleted pat:2 by ci, user 4, token 9, request r1: before " + two,
	}
	if diff := cmp.Diff(want, f.eventsSince(t, before)); diff != "" {
		t.Error(diff)
	}
}

// TestDeleteOwnerEvents interrupts the deletion of an account with 120 tokens after 100 of them. Another caller ends
// it. Every deletion is recorded once, by who made it.
func TestDeleteOwnerEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 4)
	for i := range int64(120) {
		item := pat.Key(4, i+1)
		item["description"], item["expiresAt"] = dynamo.S(fmt.Sprint(i+1)), dynamo.Time(now())
		f.Put(t, f.Tables.PersonalAccessTokens, item)
	}
	before := len(f.Events(t))
	ctx, cancel := context.WithCancel(as(t.Context(), access.Principal{ID: "user:1", UserID: 1, Name: "Ada"}, "first"))
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == transact && c.N == 3 {
			defer cancel()
			return c.Lose()
		}
		return c.Pass()
	})
	if err := pat.NewStore(client, f.Tables, f.LogThrough(client), nil).DeleteOwner(ctx, user.ServiceAccount,
		4); err == nil {
		t.Error("the deletion did not fail")
	}
	second := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "operator eve"})
	if err := f.pats.DeleteOwner(second, user.ServiceAccount, 4); err != nil {
		t.Fatal(err)
	}
	events := f.eventsSince(t, before)
	if account := events[0]; !strings.HasPrefix(account,
		"service-account-deleted account:4 by Ada, user 1, request first: before {") {
		t.Error(account)
	}
	var want []string
	for i := range 120 {
		by := "Ada, user 1, request first"
		if i >= 100 {
			by = "operator eve"
		}
		want = append(want, fmt.Sprintf("service-account-token-deleted pat:%d by %s: before "+
			`{"id":"%d","userId":4,"description":"%d","expiresAt":"2026-11-20T05:39:00.123Z"}`, i+1, by, i+1, i+1))
	}
	if diff := cmp.Diff(want, events[1:]); diff != "" {
		t.Error(diff)
	}
}
