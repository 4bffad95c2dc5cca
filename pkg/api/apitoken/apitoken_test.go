package apitoken_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

func newStore(tb testing.TB) (*apitoken.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return apitoken.NewStore(db.Client, db.Tables, db.Log()), db
}

func ignoreEvent() cmp.Option { return cmpopts.IgnoreFields(apitoken.APIToken{}, "LastEvent") }

func TestExpired(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name    string
		expires *time.Time
		want    bool
	}{
		{"never", nil, false}, {"later", new(now.Add(1)), false}, {"now", &now, true}, {"earlier", new(now.Add(-1)), true},
	} {
		if got := (apitoken.APIToken{ExpiresAt: tt.expires}).Expired(now); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
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
	if diff := cmp.Diff(apitoken.APIToken{Name: "n", Selector: token.Selector, Verifier: token.Verifier()},
		stored); diff != "" {
		t.Error(diff)
	}
	for _, n := range []int64{15, 47} {
		if _, _, err := apitoken.New(apitoken.APIToken{}, io.LimitReader(rand.Reader, n)); !errors.Is(err,
			io.ErrUnexpectedEOF) {
			t.Errorf("with %d random bytes: %v", n, err)
		}
	}
}

func TestTokensAreCreatedListedAndDeleted(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	if all, err := store.List(t.Context()); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	fine := time.Date(2026, 11, 20, 7, 39, 0, 123_987_654, time.FixedZone("", 7200))
	stored := time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)
	create := func(name string, expires *time.Time, selector byte) apitoken.APIToken {
		random := io.MultiReader(bytes.NewReader(bytes.Repeat([]byte{selector}, 16)), rand.Reader)
		token, err := store.Create(t.Context(), apitoken.APIToken{Name: name, ExpiresAt: expires, CreatedAt: fine}, random)
		if err != nil {
			t.Fatal(err)
		}
		return apitoken.APIToken{Selector: token.Selector, Name: name, Verifier: token.Verifier(), CreatedAt: stored}
	}
	b, second, first := create("b", nil, 1), create("a", nil, 3), create("a", &fine, 2)
	first.ExpiresAt = &stored
	all, err := store.List(t.Context())
	if diff := cmp.Diff([]apitoken.APIToken{first, second, b}, all, ignoreEvent()); err != nil || diff != "" {
		t.Error(err, diff)
	}
	got, err := store.Get(t.Context(), first.Selector)
	if diff := cmp.Diff(first, got, ignoreEvent()); err != nil || diff != "" {
		t.Error(err, diff)
	}
	want := dynamo.Item{
		"id": dynamo.S(first.Selector.String()), "name": dynamo.S("a"), "verifier": dynamo.B(first.Verifier[:]),
		"createdAt": dynamo.S("2026-11-20T05:39:00.123Z"), "expiresAt": dynamo.S("2026-11-20T05:39:00.123Z"),
		"event": dynamo.N(got.LastEvent),
	}
	if diff := database.DiffItems(want, db.Get(t, db.Tables.APITokens, dynamo.Item{"id": want["id"]})); diff != "" {
		t.Error(diff)
	}
	for range 2 {
		if err := store.Delete(t.Context(), first.Selector); err != nil {
			t.Error(err)
		}
	}
	if _, err := store.Get(t.Context(), first.Selector); !errors.Is(err, apitoken.ErrNotFound) {
		t.Error(err)
	}
}

// TestSelectorIsTaken checks that a creation does not replace another token.
func TestSelectorIsTaken(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	token, err := store.Create(t.Context(), apitoken.APIToken{Name: "n"}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	random := io.MultiReader(bytes.NewReader(token.Selector[:]), rand.Reader)
	if _, err := store.Create(t.Context(), apitoken.APIToken{Name: "other"}, random); err == nil {
		t.Error("another token has the selector")
	}
	if stored, err := store.Get(t.Context(), token.Selector); err != nil || stored.Verifier != token.Verifier() {
		t.Error(err, "another token is stored")
	}
	if events := db.Events(t); len(events) != 1 {
		t.Error(events)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	ctx := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "operator ada"})
	expires := time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC)
	create := func(t apitoken.APIToken, selector byte) error {
		_, err := store.Create(ctx, t, io.MultiReader(bytes.NewReader(bytes.Repeat([]byte{selector}, 16)), rand.Reader))
		return err
	}
	selector := access.Selector(bytes.Repeat([]byte{2}, 16))
	if err := errors.Join(
		create(apitoken.APIToken{Name: "a", ExpiresAt: &expires}, 1), create(apitoken.APIToken{Name: "b"}, 2),
		store.Delete(ctx, selector), store.Delete(ctx, selector), // the second deletion changes nothing
	); err != nil {
		t.Fatal(err)
	}
	const a, b = "AQEBAQEBAQEBAQEBAQEBAQ", "AgICAgICAgICAgICAgICAg"
	second := `{"id":"` + b + `","userId":null,"description":"b","expiresAt":null}`
	want := []string{
		`api-token-created api-token:` + a + ` by operator ada: {"id":"` + a +
			`","userId":null,"description":"a","expiresAt":"2026-11-20T05:39:00.000Z"}`,
		`api-token-created api-token:` + b + ` by operator ada: ` + second,
		`api-token-deleted api-token:` + b + ` by operator ada: before ` + second,
	}
	if diff := cmp.Diff(want, db.Events(t)); diff != "" {
		t.Error(diff)
	}
}
