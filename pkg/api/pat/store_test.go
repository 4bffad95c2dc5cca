package pat_test

import (
	"context"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

func TestExpired(t *testing.T) {
	t.Parallel()
	p := pat.PAT{ExpiresAt: now()}
	for difference, want := range map[time.Duration]bool{-1: false, 0: true, 1: true} {
		assert.Equal(t, want, p.Expired(now().Add(difference)))
	}
}

// TestItems checks that a token is stored and returned as it was sent, with times in UTC with milliseconds.
func TestItems(t *testing.T) {
	t.Parallel()
	f := newFixture(t, math.MaxInt32)
	fine := now().Add(987_654).In(time.FixedZone("", 7200))
	want := pat.PAT{ID: 99, UserID: math.MaxInt32, Description: " é\u0301\U0001F600#:\n ",
		ExpiresAt: fine.AddDate(1, 0, 0), CreatedAt: fine, SeenAt: &fine}
	p, token, err := f.pats.Create(t.Context(), want, owner(1))
	assert.OK(t, err)
	want.ID, want.ExpiresAt, want.CreatedAt, want.SeenAt = 1, now().AddDate(1, 0, 0), now(), nil
	want.Verifier, want.LastEvent = token.Verifier(), p.LastEvent
	assert.Equal(t, want, p)
	if token.Kind != access.PAT || token.Selector != access.PATSelector(math.MaxInt32, 1) {
		t.Errorf("the token has the kind %v and the selector %v", token.Kind, token.Selector)
	}
	item := f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(math.MaxInt32, 1))
	counter := f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(0, 0))
	assert.Equal(t, []dynamo.Item{{
		"userId": dynamo.N(math.MaxInt32), "id": dynamo.N(1), "verifier": dynamo.B(want.Verifier[:]),
		"description": dynamo.S(want.Description),
		"createdAt":   dynamo.S("2026-11-20T05:39:00.123Z"), "expiresAt": dynamo.S("2027-11-20T05:39:00.123Z"),
		"event": dynamo.N(p.LastEvent),
	}, {
		"userId": dynamo.N(0), "id": dynamo.N(0), "lastId": dynamo.N(1),
		"lastCreatedAt": dynamo.S("2026-11-20T05:39:00.123Z"),
	}}, []dynamo.Item{item, counter}, database.Items())
	f.requireConsistent(t)
	item[pat.AttributeSeenAt] = dynamo.Time(now())
	want.SeenAt = new(now())
	assert.Equal(t, want, pat.FromItem(item))
}

func TestDescriptionKey(t *testing.T) {
	t.Parallel()
	// printf ci | openssl dgst -sha256 -binary | head -c 16 | basenc --base64url
	assert.Equal(t, "GxWIOfiqM56Ju1CxYD6Q7A", pat.DescriptionKey("ci"))
}

func TestCreateUpToTheHighestID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	counter := pat.Key(0, 0)
	counter["lastId"] = dynamo.N(access.MaxID - 1)
	f.Put(t, f.Tables.PersonalAccessTokens, counter)
	assert.Equal(t, int64(access.MaxID), f.create(t, newPAT(1, "last")).ID)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 10})
	h.Run(ctx, t, `createOwn | | {"description":"one more","expiresAt":"2099-01-01T00:00:00Z"} | 403 NoAccessError: `+
		`All ids of tokens, up to 2147483647, are used up.`)
	// A counter that is behind, for example because the table was restored from a backup.
	f.Put(t, f.Tables.PersonalAccessTokens, counter)
	if _, _, err := f.pats.Create(t.Context(), newPAT(1, "one more"), owner(10)); err == nil ||
		!strings.Contains(err.Error(), "counter") {
		t.Error(err)
	}
}

func TestDeleteLosesTheRace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	p := f.create(t, newPAT(1, "ci"))
	store := f.through(f.Before(t, transact, 1, func() {
		assert.OK(t, f.pats.Delete(t.Context(), pat.AnyKind, 1, p.ID))
		f.create(t, newPAT(1, "ci"))
	}))
	assert.ErrorIs(t, store.Delete(t.Context(), pat.AnyKind, 1, p.ID), pat.ErrNotFound)
	f.requireConsistent(t)
}

func TestErrorsNameTheAction(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	f.create(t, newPAT(1, "ci"))
	refuse := func(operation string) *pat.Store { return f.through(f.Refusing(t, operation)) }
	create := func(store *pat.Store) error {
		_, _, err := store.Create(t.Context(), newPAT(1, "new"), owner(10))
		return err
	}
	_, list := refuse("Scan").List(t.Context())
	_, query := refuse("Query").ListOf(t.Context(), 1)
	_, _, read := refuse("BatchGetItem").Get(t.Context(), 1, 1)
	random := create(pat.NewStore(f.Client, f.Tables, f.Log(), strings.NewReader("short")))
	for want, err := range map[string]error{
		"list PATs: ": list, "list PATs of user 1: ": query, "get PAT 1 of user 1: ": read,
		"take an id for a PAT: ": create(refuse(count)),
		"create a PAT: ":         create(refuse(transact)), "make a secret: ": random,
		"delete PAT 1: operation error DynamoDB: GetItem": refuse(get).Delete(t.Context(), pat.AnyKind, 1, 1),
		"delete PAT 1: ": refuse(transact).Delete(t.Context(), pat.AnyKind, 1, 1),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	assert.ErrorIs(t, random, io.ErrUnexpectedEOF)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, f.pats.Delete(ctx, pat.AnyKind, 1, 1), dynamo.ErrUnavailable)
	f.requireConsistent(t)
}
