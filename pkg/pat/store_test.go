package pat_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
	"toggleadmin/test/database"
)

func TestExpired(t *testing.T) {
	t.Parallel()
	p := pat.PAT{ExpiresAt: now()}
	for difference, want := range map[time.Duration]bool{-1: false, 0: true, 1: true} {
		if got := p.Expired(now().Add(difference)); got != want {
			t.Errorf("%d ns after: %t", difference, got)
		}
	}
}

func TestCreateUsesOneSequenceOfIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 7, 8)
	var want []pat.PAT
	verifiers := map[auth.Verifier]bool{}
	for i := range int64(6) {
		p, token := f.create(t, 7+i%2, fmt.Sprint(i))
		if p.ID != i+1 || verifiers[token.Verifier()] {
			t.Errorf("id %d, want %d, with a new secret", p.ID, i+1)
		}
		verifiers[token.Verifier()] = true
		want = append(want, p)
	}
	got, err := f.pats.List(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestItems checks that a token is stored and returned as it was sent, with times in UTC with milliseconds.
func TestItems(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, math.MaxInt32)
	fine := now().Add(987_654).In(time.FixedZone("", 7200))
	sent := pat.PAT{ID: 99, UserID: math.MaxInt32, Description: " é\u0301\U0001F600#:\n ", ExpiresAt: fine.AddDate(1, 0, 0), CreatedAt: fine, SeenAt: &fine}
	p, token, err := f.pats.Create(t.Context(), sent, owner(1))
	verifier := token.Verifier()
	want := pat.PAT{ID: 1, UserID: math.MaxInt32, Description: sent.Description, ExpiresAt: now().AddDate(1, 0, 0), CreatedAt: now(), Verifier: verifier}
	if diff := cmp.Diff(want, p); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if token.Kind != auth.PAT || token.Selector != auth.PATSelector(math.MaxInt32, 1) {
		t.Errorf("the token has the kind %v and the selector %v", token.Kind, token.Selector)
	}
	item := f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(math.MaxInt32, 1))
	if diff := database.DiffItems(dynamo.Item{
		"userId": dynamo.N(math.MaxInt32), "id": dynamo.N(1), "verifier": dynamo.B(verifier[:]), "description": dynamo.S(sent.Description),
		"createdAt": dynamo.S("2026-11-20T05:39:00.123Z"), "expiresAt": dynamo.S("2027-11-20T05:39:00.123Z"),
	}, item); diff != "" {
		t.Error(diff)
	}
	if diff := database.DiffItems(dynamo.Item{"userId": dynamo.N(0), "id": dynamo.N(0), "lastId": dynamo.N(1)},
		f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(0, 0))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int64{pat.DescriptionKey(sent.Description): 1}, f.user(t, math.MaxInt32).PATs); diff != "" {
		t.Error(diff)
	}
	item[pat.AttributeSeenAt] = dynamo.Time(now())
	want.SeenAt = new(now())
	if diff := cmp.Diff(want, pat.FromItem(item)); diff != "" {
		t.Error(diff)
	}
}

func TestDescriptionKey(t *testing.T) {
	t.Parallel()
	if got, want := pat.DescriptionKey("ci"), "GxWIOfiqM56Ju1CxYD6Q7A"; got != want { // printf ci | openssl dgst -sha256 -binary | head -c 16 | basenc --base64url
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCreateRefusesADescriptionTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1, 2)
	for _, description := range []string{"ci", "CI", "ci ", "ci\u200b", strings.Repeat("x", 255)} {
		f.create(t, 1, description)
		f.requireRefused(t, newPAT(1, description), owner(100), pat.ErrDescriptionExists)
		f.create(t, 2, description)
	}
	f.requireConsistent(t)
}

func TestCreateRefusesMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1, 2)
	expired := newPAT(1, "expired")
	expired.ExpiresAt = expired.CreatedAt
	if _, _, err := f.pats.Create(t.Context(), expired, owner(1)); err != nil {
		t.Error(err)
	}
	f.requireRefused(t, newPAT(1, "one more"), owner(1), pat.ErrTooMany)
	f.requireRefused(t, newPAT(1, "expired"), owner(1), pat.ErrTooMany) // before the description
	f.requireRefused(t, newPAT(1, "expired"), pat.Owner{Kind: user.Person, Limit: 1}, pat.ErrNoOwner)
	if _, _, err := f.pats.Create(t.Context(), newPAT(1, "one more"), owner(2)); err != nil {
		t.Error(err)
	}
	f.create(t, 2, "another account")
}

func TestCreateRefusesUnknownOwners(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, 1, user.Person)
	f.serviceAccounts(t, 2)
	for id, kind := range map[int64]user.Kind{1: user.ServiceAccount, 2: user.Person, 3: user.ServiceAccount} {
		f.requireRefused(t, newPAT(id, "ci"), pat.Owner{Kind: kind, Limit: 10}, pat.ErrNoOwner)
	}
	if users := f.Scan(t, f.Tables.Users); len(users) != 2 {
		t.Errorf("a refusal wrote an account: %v", users)
	}
	p, _, err := f.pats.Create(t.Context(), newPAT(1, "ci"), pat.Owner{Kind: user.Person, Limit: 10})
	if err != nil || p.ID != 1 {
		t.Errorf("after the refusals: id %d, %v", p.ID, err)
	}
}

func TestCreateUpToTheHighestID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1)
	counter := pat.Key(0, 0)
	counter["lastId"] = dynamo.N(auth.MaxID - 1)
	f.Put(t, f.Tables.PersonalAccessTokens, counter)
	if p, _ := f.create(t, 1, "last"); p.ID != auth.MaxID {
		t.Errorf("id %d", p.ID)
	}
	if _, _, err := f.pats.Create(t.Context(), newPAT(1, "one more"), owner(10)); err == nil || !strings.Contains(err.Error(), "used up") {
		t.Error(err)
	}
	// A counter that is behind, for example because the table was restored from a backup.
	f.Put(t, f.Tables.PersonalAccessTokens, dynamo.Item{"userId": counter["userId"], "id": counter["id"], "lastId": dynamo.N(auth.MaxID - 1)})
	if _, _, err := f.pats.Create(t.Context(), newPAT(1, "one more"), owner(10)); err == nil || !strings.Contains(err.Error(), "counter") {
		t.Error(err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1, 2)
	mine, _ := f.create(t, 1, "ci")
	other, _ := f.create(t, 1, "other")
	for _, key := range [][2]int64{{2, mine.ID}, {3, mine.ID}, {1, 3}, {1, math.MaxInt32}} {
		if err := f.pats.Delete(t.Context(), key[0], key[1]); !errors.Is(err, pat.ErrNotFound) {
			t.Errorf("PAT %d of user %d: %v", key[1], key[0], err)
		}
	}
	for _, want := range []error{nil, pat.ErrNotFound} {
		if err := f.pats.Delete(t.Context(), 1, mine.ID); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
	f.requireConsistent(t)
	again, _, err := f.pats.Create(t.Context(), newPAT(1, "ci"), owner(2)) // the description and the place are free
	if err != nil || again.ID != 3 {
		t.Errorf("id %d, %v", again.ID, err)
	}
	got, err := f.pats.List(t.Context())
	if diff := cmp.Diff([]pat.PAT{other, again}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestDeleteLosesTheRace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1)
	p, _ := f.create(t, 1, "ci")
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == transact {
			if err := f.pats.Delete(t.Context(), 1, p.ID); err != nil {
				t.Error(err)
			}
			f.create(t, 1, "ci")
		}
		return c.Pass()
	})
	if err := pat.NewStore(client, f.Tables, rand.Reader).Delete(t.Context(), 1, p.ID); !errors.Is(err, pat.ErrNotFound) {
		t.Error(err)
	}
	f.requireConsistent(t)
}

func TestErrorsNameTheAction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1)
	f.create(t, 1, "ci")
	refuse := func(operation string) *pat.Store {
		client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.Operation == operation {
				return c.Refuse("ValidationException")
			}
			return c.Pass()
		})
		return pat.NewStore(client, f.Tables, rand.Reader)
	}
	_, list := refuse("Scan").List(t.Context())
	_, _, counter := refuse(get).Create(t.Context(), newPAT(1, "new"), owner(10))
	_, _, create := refuse(transact).Create(t.Context(), newPAT(1, "new"), owner(10))
	_, _, random := pat.NewStore(f.Client, f.Tables, strings.NewReader("short")).Create(t.Context(), newPAT(1, "new"), owner(10))
	for _, tt := range []struct {
		want string
		err  error
	}{
		{"list PATs: ", list}, {"read the counter of PATs: ", counter}, {"create a PAT: ", create}, {"make a secret: ", random},
		{"get PAT 1: ", refuse(get).Delete(t.Context(), 1, 1)}, {"delete PAT 1: ", refuse(transact).Delete(t.Context(), 1, 1)},
	} {
		if tt.err == nil || !strings.HasPrefix(tt.err.Error(), tt.want) {
			t.Errorf("error %v, want %q", tt.err, tt.want)
		}
	}
	if !errors.Is(random, io.ErrUnexpectedEOF) {
		t.Error(random)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.pats.Delete(ctx, 1, 1); !errors.Is(err, dynamo.ErrUnavailable) {
		t.Error(err)
	}
	f.requireConsistent(t)
}
