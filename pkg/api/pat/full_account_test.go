package pat_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
)

// descriptions returns the descriptions of the tokens of account 4.
func (f *fixture) descriptions(tb testing.TB) string {
	tb.Helper()
	all, err := f.pats.ListOf(tb.Context(), 4)
	assert.OK(tb, err)
	var names []string
	for _, p := range all {
		names = append(names, p.Description)
	}
	return strings.Join(names, " ")
}

// TestCreateInAFullAccount creates a token in an account with the maximum number of tokens.
func TestCreateInAFullAccount(t *testing.T) {
	t.Parallel()
	const ago = -time.Hour
	for name, tt := range map[string]struct {
		tokens []pat.PAT
		limit  int
		create string
		err    apierror.Kind // Internal: none
		want   string        // the descriptions afterwards
	}{
		"the token that expired first makes room": {
			tokens: []pat.PAT{expiring("valid", day), expiring("later", ago), expiring("first", 2*ago)},
			limit:  3, create: "new", want: "valid later new",
		},
		"of two that expired together, the older one": {
			tokens: []pat.PAT{expiring("older", ago), expiring("newer", ago)},
			limit:  2, create: "new", want: "newer new",
		},
		"a token expires at its time of expiry": {
			tokens: []pat.PAT{expiring("now", 0)},
			limit:  1, create: "new", want: "new",
		},
		"none has expired": {
			tokens: []pat.PAT{expiring("valid", day), expiring("soon", time.Millisecond)},
			limit:  2, create: "new", err: apierror.NoAccess, want: "valid soon",
		},
		"a full account is reported before a description that exists": {
			tokens: []pat.PAT{expiring("valid", day)},
			limit:  1, create: "valid", err: apierror.NoAccess, want: "valid",
		},
		"no token makes room for a description that exists": {
			tokens: []pat.PAT{expiring("valid", day), expiring("expired", ago)},
			limit:  2, create: "valid", err: apierror.NameExists, want: "valid expired",
		},
		"the expired token with the description, before one that expired first": {
			tokens: []pat.PAT{expiring("valid", day), expiring("ci", ago), expiring("first", 2*ago)},
			limit:  3, create: "ci", want: "valid first ci",
		},
		"the expired token with the description, in an account with room": {
			tokens: []pat.PAT{expiring("expired", ago), expiring("ci", ago)},
			limit:  3, create: "ci", want: "expired ci",
		},
		"a description that exists, in an account with room": {
			tokens: []pat.PAT{expiring("expired", ago), expiring("ci", day)},
			limit:  3, create: "ci", err: apierror.NameExists, want: "expired ci",
		},
		"an account with room keeps its expired tokens": {
			tokens: []pat.PAT{expiring("expired", ago)},
			limit:  2, create: "new", want: "expired new",
		},
		"the limit was lowered": {
			tokens: []pat.PAT{expiring("valid", day), expiring("expired", ago)},
			limit:  1, create: "expired", err: apierror.NoAccess, want: "valid expired",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, 4)
			for _, p := range tt.tokens {
				f.create(t, p)
			}
			_, _, err := f.pats.Create(t.Context(), newPAT(4, tt.create), pat.Owner{Limit: tt.limit})
			assert.Equal(t, tt.err, apierror.KindOf(err))
			assert.Equal(t, tt.want, f.descriptions(t))
			f.requireConsistent(t)
		})
	}
}

// The deletion is recorded after the creation, with the type that the operation on the account records.
func TestTheTokenThatMakesRoomIsRecorded(t *testing.T) {
	t.Parallel()
	for kind, want := range map[user.Kind]string{
		pat.AnyKind: `pat-created pat:2 by ci: {"id":"2","userId":4,"description":"new","expiresAt":"2027-11-20T05:39:00.123Z"}
pat-deleted pat:1 by ci: before {"id":"1","userId":4,"description":"old","expiresAt":"2026-11-20T04:39:00.123Z"}`,
		user.ServiceAccount: `service-account-token-created pat:2 by ci: {"id":"2","userId":4,"description":"new","expiresAt":"2027-11-20T05:39:00.123Z"}
service-account-token-deleted pat:1 by ci: before {"id":"1","userId":4,"description":"old","expiresAt":"2026-11-20T04:39:00.123Z"}`,
	} {
		f := newFixture(t, 4)
		f.create(t, expiring("old", -time.Hour))
		before := len(f.Events(t))
		_, _, err := f.pats.Create(as(t, "ci"), newPAT(4, "new"), pat.Owner{Kind: kind, Limit: 1})
		assert.OK(t, err)
		assert.Equal(t, want, strings.Join(f.Events(t)[before:], "\n"))
	}
}

// TestCreateInAFullAccountLosesTheRace changes the account or its tokens before the transaction that makes room.
func TestCreateInAFullAccountLosesTheRace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		meanwhile func(f *fixture) error
		want      string
	}{
		"the expired token is deleted": {func(f *fixture) error {
			return f.pats.Delete(t.Context(), pat.AnyKind, 4, 2)
		}, "valid new"},
		"another token is deleted": {func(f *fixture) error {
			return f.pats.Delete(t.Context(), pat.AnyKind, 4, 1)
		}, "expired new"},
		"the expired token changes": {func(f *fixture) error {
			p, _, err := f.pats.Get(t.Context(), 4, 2)
			assert.OK(t, err)
			return f.pats.RecordExpiry(t.Context(), p, 1)
		}, "valid new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, 4)
			f.create(t, expiring("valid", day))
			f.create(t, expiring("expired", -time.Hour))
			store := f.through(f.Before(t, transact, 2, func() { assert.OK(t, tt.meanwhile(f)) }))
			_, _, err := store.Create(t.Context(), newPAT(4, "new"), pat.Owner{Limit: 2})
			assert.OK(t, err)
			assert.Equal(t, tt.want, f.descriptions(t))
			f.requireConsistent(t)
		})
	}
}

// The token with the same description is deleted after the account was full, so that there is room for the new one.
func TestCreateInAnAccountThatIsNoLongerFull(t *testing.T) {
	t.Parallel()
	for want, others := range map[string][]pat.PAT{
		"ci":         nil,
		"expired ci": {expiring("expired", -time.Hour)},
	} {
		f := newFixture(t, 4)
		f.create(t, expiring("ci", day))
		for _, p := range others {
			f.create(t, p)
		}
		store := f.through(f.Before(t, "Query", 1, func() {
			assert.OK(t, f.pats.Delete(t.Context(), pat.AnyKind, 4, 1))
		}))
		_, _, err := store.Create(t.Context(), newPAT(4, "ci"), pat.Owner{Limit: 1 + len(others)})
		assert.OK(t, err)
		assert.Equal(t, want, f.descriptions(t))
	}
}

// The token that makes room is deleted after the tokens were read, and the account is full again.
func TestCreateInAFullAccountWithoutRoomAnyMore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	f.create(t, expiring("expired", -time.Hour))
	store := f.through(f.Before(t, transact, 2, func() {
		assert.OK(t, f.pats.Delete(t.Context(), pat.AnyKind, 4, 1))
		f.create(t, expiring("valid", day))
	}))
	_, _, err := store.Create(t.Context(), newPAT(4, "new"), pat.Owner{Limit: 1})
	assert.Equal(t, apierror.NoAccess, apierror.KindOf(err))
	assert.Equal(t, "valid", f.descriptions(t))
}
