package pat_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
)

// TestEvents checks what the writes of tokens record: the type depends on the operation, not on the owner. A refused
// write records nothing.
func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	before := len(f.Events(t))
	as := func(request string, p access.Principal) context.Context {
		return access.WithPrincipal(lambdahttp.WithGateway(t.Context(), lambdahttp.Gateway{RequestID: request}), p)
	}
	own := as("r1", access.Principal{ID: "user:4", UserID: 4, Name: "ci", TokenID: "9"})
	admin := as("r2", access.Principal{ID: "user:1", UserID: 1, Name: "Ada"})
	other := as("r3", access.Principal{ID: "api-token:s", Name: "API token x", TokenID: "s"})
	create := func(ctx context.Context, description string, kind user.Kind, life time.Duration) error {
		p := newPAT(4, description)
		p.ExpiresAt = now().Add(life)
		_, _, err := f.pats.Create(ctx, p, pat.Owner{Kind: kind, Limit: 3})
		return err
	}
	assert.OK(t, create(own, "own", pat.AnyKind, 20*day), create(admin, "theirs", user.ServiceAccount, 20*day),
		create(own, "short", pat.AnyKind, time.Minute),
		f.pats.Delete(other, user.ServiceAccount, 4, 1), f.pats.Delete(own, pat.AnyKind, 4, 2))
	assert.ErrorIs(t, create(own, "short", pat.AnyKind, day), pat.ErrDescriptionExists)
	assert.ErrorIs(t, f.pats.Delete(own, pat.AnyKind, 4, 1), pat.ErrNotFound)
	want := strings.NewReplacer("ONE", `{"id":"1","userId":4,"description":"own","expiresAt":"2026-12-10T05:39:00.123Z"}`,
		"TWO", `{"id":"2","userId":4,"description":"theirs","expiresAt":"2026-12-10T05:39:00.123Z"}`,
		"SHORT", `"userId":4,"description":"short","expiresAt":"2026-11-20T05:40:00.123Z"`,
	).Replace(`pat-created pat:1 by ci, user 4, token 9, request r1: ONE
service-account-token-created pat:2 by Ada, user 1, request r2: TWO
pat-created pat:3 by ci, user 4, token 9, request r1: {"id":"3",SHORT}
token-expiring pat:3 by system, request r1: {"id":3,SHORT,"days":1}
service-account-token-deleted pat:1 by API token x, token s, request r3: before ONE
pat-deleted pat:2 by ci, user 4, token 9, request r1: before TWO`)
	assert.Equal(t, want, strings.Join(f.Events(t)[before:], "\n"))
}
