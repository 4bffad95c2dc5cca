package apitoken_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/test/database"
)

func newStore(tb testing.TB) (*apitoken.Store, *database.Database) {
	tb.Helper()
	db := database.New(tb)
	return apitoken.NewStore(db.Client, db.Tables), db
}

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
	stored, token, err := apitoken.New(apitoken.APIToken{Name: "n", Selector: auth.Selector{9}},
		io.MultiReader(bytes.NewReader(hyphen), bytes.NewReader(selector), bytes.NewReader(secret)))
	if err != nil || token.Selector != auth.Selector(selector) || token.Kind != auth.APIToken {
		t.Errorf("%v, %v", token.Selector, err)
	}
	if diff := cmp.Diff(apitoken.APIToken{Name: "n", Selector: token.Selector, Verifier: token.Verifier()}, stored); diff != "" {
		t.Error(diff)
	}
	for _, n := range []int64{15, 47} {
		if _, _, err := apitoken.New(apitoken.APIToken{}, io.LimitReader(rand.Reader, n)); !errors.Is(err, io.ErrUnexpectedEOF) {
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
	if diff := cmp.Diff([]apitoken.APIToken{first, second, b}, all); err != nil || diff != "" {
		t.Error(err, diff)
	}
	got, err := store.Get(t.Context(), first.Selector)
	if diff := cmp.Diff(first, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	want := dynamo.Item{
		"id": dynamo.S(first.Selector.String()), "name": dynamo.S("a"), "verifier": dynamo.B(first.Verifier[:]),
		"createdAt": dynamo.S("2026-11-20T05:39:00.123Z"), "expiresAt": dynamo.S("2026-11-20T05:39:00.123Z"),
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

// TestCreateWithoutResponse checks that Create returns the token that it wrote, and does not replace another one.
func TestCreateWithoutResponse(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	client, tap := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.N == 1 && c.Operation == "PutItem" {
			return c.Lose()
		}
		return c.Pass()
	})
	store := apitoken.NewStore(client, db.Tables)
	token, err := store.Create(t.Context(), apitoken.APIToken{Name: "n"}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"PutItem", "PutItem", "GetItem"}, strings.Fields(tap.Calls())); diff != "" {
		t.Error(diff)
	}
	stored, err := store.Get(t.Context(), token.Selector)
	if err != nil || stored.Verifier != token.Verifier() {
		t.Error(err, "another token is stored")
	}
	random := io.MultiReader(bytes.NewReader(token.Selector[:]), rand.Reader)
	if _, err := store.Create(t.Context(), apitoken.APIToken{Name: "other"}, random); !dynamo.FailedCondition(err) {
		t.Errorf("with a selector that is taken: %v", err)
	}
	if failures, err := dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{store.Creation(stored)}); err != nil || failures == nil {
		t.Errorf("in a transaction: %v", err)
	}
}
