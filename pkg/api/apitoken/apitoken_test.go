package apitoken_test

import (
	"bytes"
	"crypto/rand"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func newStore(tb testing.TB) (*apitoken.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return apitoken.NewStore(db.Client, db.Tables, db.Log()), db
}

// random returns random bytes for a token with a selector.
func random(selector byte) io.Reader {
	return io.MultiReader(bytes.NewReader(bytes.Repeat([]byte{selector}, 16)), rand.Reader)
}

func ignoreEvent() cmp.Option { return cmpopts.IgnoreFields(apitoken.APIToken{}, "LastEvent") }

func TestExpired(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for expires, want := range map[*time.Time]bool{nil: false, new(now.Add(1)): false, &now: true, new(now.Add(-1)): true} {
		assert.Equal(t, want, apitoken.APIToken{ExpiresAt: expires}.Expired(now))
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	hyphen, selector := bytes.Repeat([]byte{0xf8}, 16), bytes.Repeat([]byte{1}, 16) // "-" is the base64url character 62
	secret := bytes.Repeat([]byte{2}, 32)
	stored, token, err := apitoken.New(apitoken.APIToken{Name: "n", Selector: access.Selector{9}},
		io.MultiReader(bytes.NewReader(hyphen), bytes.NewReader(selector), bytes.NewReader(secret)))
	if err != nil || token.Selector != access.Selector(selector) || token.Kind != access.APIToken {
		t.Errorf("%v, %v", token.Selector, err)
	}
	assert.Equal(t, apitoken.APIToken{Name: "n", Selector: token.Selector, Verifier: token.Verifier()}, stored)
	for _, n := range []int64{15, 47} {
		_, _, err := apitoken.New(apitoken.APIToken{}, io.LimitReader(rand.Reader, n))
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
}

func TestTokensAreCreatedListedAndDeleted(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	fine := time.Date(2026, 11, 20, 7, 39, 0, 123_987_654, time.FixedZone("", 7200))
	stored := time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)
	create := func(name string, expires *time.Time, selector byte) apitoken.APIToken {
		token, err := store.Create(t.Context(), apitoken.APIToken{Name: name, ExpiresAt: expires, CreatedAt: fine},
			random(selector))
		assert.OK(t, err)
		return apitoken.APIToken{Selector: token.Selector, Name: name, Verifier: token.Verifier(), CreatedAt: stored}
	}
	b, second, first := create("b", nil, 1), create("a", nil, 3), create("a", &fine, 2)
	first.ExpiresAt = &stored
	// a creation does not replace another token
	if _, err := store.Create(t.Context(), apitoken.APIToken{Name: "other"}, random(2)); err == nil {
		t.Error("another token has the selector")
	}
	assert.Equal(t, 3, len(db.Events(t)))
	all, err := store.List(t.Context())
	assert.OK(t, err)
	assert.Equal(t, []apitoken.APIToken{first, second, b}, all, ignoreEvent())
	got, err := store.Get(t.Context(), first.Selector)
	assert.OK(t, err)
	assert.Equal(t, first, got, ignoreEvent())
	want := dynamo.Item{
		"id": dynamo.S(first.Selector.String()), "name": dynamo.S("a"), "verifier": dynamo.B(first.Verifier[:]),
		"createdAt": dynamo.S("2026-11-20T05:39:00.123Z"), "expiresAt": dynamo.S("2026-11-20T05:39:00.123Z"),
		"event": dynamo.N(got.LastEvent),
	}
	assert.Equal(t, want, db.Get(t, db.Tables["ApiTokens"], dynamo.Item{"id": want["id"]}), database.Items())
	assert.OK(t, store.Delete(t.Context(), first.Selector), store.Delete(t.Context(), first.Selector))
	_, err = store.Get(t.Context(), first.Selector)
	assert.Equal(t, apierror.NotFound, apierror.KindOf(err))
}

func TestEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	ctx := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "operator ada"})
	expires := time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC)
	create := func(t apitoken.APIToken, selector byte) error {
		_, err := store.Create(ctx, t, random(selector))
		return err
	}
	selector := access.Selector(bytes.Repeat([]byte{2}, 16))
	assert.OK(t, create(apitoken.APIToken{Name: "a", ExpiresAt: &expires}, 1), create(apitoken.APIToken{Name: "b"}, 2),
		store.Delete(ctx, selector), store.Delete(ctx, selector)) // the second deletion changes nothing
	want := []string{
		`api-token-created api-token:AQEBAQEBAQEBAQEBAQEBAQ by operator ada: {"id":"AQEBAQEBAQEBAQEBAQEBAQ",` +
			`"userId":null,"description":"a","expiresAt":"2026-11-20T05:39:00.000Z"}`,
		`api-token-created api-token:AgICAgICAgICAgICAgICAg by operator ada: SECOND`,
		`api-token-deleted api-token:AgICAgICAgICAgICAgICAg by operator ada: before SECOND`,
	}
	for i, line := range want {
		want[i] = strings.Replace(line, "SECOND",
			`{"id":"AgICAgICAgICAgICAgICAg","userId":null,"description":"b","expiresAt":null}`, 1)
	}
	assert.Equal(t, want, db.Events(t))
}
