package pat_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
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

// TestItems checks that a token is stored and returned as it was sent, with times in UTC with milliseconds.
func TestItems(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, math.MaxInt32)
	fine := now().Add(987_654).In(time.FixedZone("", 7200))
	sent := pat.PAT{ID: 99, UserID: math.MaxInt32, Description: " é\u0301\U0001F600#:\n ",
		ExpiresAt: fine.AddDate(1, 0, 0), CreatedAt: fine, SeenAt: &fine}
	p, token, err := f.pats.Create(t.Context(), sent, owner(1))
	verifier := token.Verifier()
	want := pat.PAT{ID: 1, UserID: math.MaxInt32, Description: sent.Description, ExpiresAt: now().AddDate(1, 0, 0),
		CreatedAt: now(), Verifier: verifier}
	want.LastEvent = p.LastEvent
	if diff := cmp.Diff(want, p); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if token.Kind != access.PAT || token.Selector != access.PATSelector(math.MaxInt32, 1) {
		t.Errorf("the token has the kind %v and the selector %v", token.Kind, token.Selector)
	}
	item := f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(math.MaxInt32, 1))
	if diff := database.DiffItems(dynamo.Item{
		"userId": dynamo.N(math.MaxInt32), "id": dynamo.N(1), "verifier": dynamo.B(verifier[:]),
		"description": dynamo.S(sent.Description),
		"createdAt":   dynamo.S("2026-11-20T05:39:00.123Z"), "expiresAt": dynamo.S("2027-11-20T05:39:00.123Z"),
		"event": dynamo.N(p.LastEvent),
	}, item); diff != "" {
		t.Error(diff)
	}
	if diff := database.DiffItems(dynamo.Item{
		"userId": dynamo.N(0), "id": dynamo.N(0), "lastId": dynamo.N(1),
		"lastCreatedAt": dynamo.S("2026-11-20T05:39:00.123Z"),
	}, f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(0, 0))); diff != "" {
		t.Error(diff)
	}
	if u, err := f.users.Get(t.Context(), math.MaxInt32); err != nil || u.PATs[pat.DescriptionKey(sent.Description)] != 1 {
		t.Error(err, u.PATs)
	}
	item[pat.AttributeSeenAt] = dynamo.Time(now())
	want.SeenAt = new(now())
	if diff := cmp.Diff(want, pat.FromItem(item)); diff != "" {
		t.Error(diff)
	}
}

func TestDescriptionKey(t *testing.T) {
	t.Parallel()
	// printf ci | openssl dgst -sha256 -binary | head -c 16 | basenc --base64url
	if got, want := pat.DescriptionKey("ci"), "GxWIOfiqM56Ju1CxYD6Q7A"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCreateUpToTheHighestID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1)
	counter := pat.Key(0, 0)
	counter["lastId"] = dynamo.N(access.MaxID - 1)
	f.Put(t, f.Tables.PersonalAccessTokens, counter)
	if p, _ := f.create(t, 1, "last"); p.ID != access.MaxID {
		t.Errorf("id %d", p.ID)
	}
	if _, _, err := f.pats.Create(t.Context(), newPAT(1, "one more"), owner(10)); !errors.Is(err, pat.ErrNoIDsLeft) {
		t.Error(err)
	}
	handler, err := pat.CreateOwn(f.pats, now, pat.Limits{PerAccount: 10})
	if err != nil {
		t.Fatal(err)
	}
	_, status, message := serve(handler,
		post(access.WithPrincipal(t.Context(), access.UserPrincipal(1, access.RoleViewer)), "", body(`"one more"`)))
	if status != 403 || message != "All ids of tokens, up to 2147483647, are used up." {
		t.Error(status, message)
	}
	// A counter that is behind, for example because the table was restored from a backup.
	counter["lastId"] = dynamo.N(access.MaxID - 1)
	f.Put(t, f.Tables.PersonalAccessTokens, counter)
	if _, _, err := f.pats.Create(t.Context(), newPAT(1, "one more"), owner(10)); err == nil ||
		!strings.Contains(err.Error(), "counter") {
		t.Error(err)
	}
}

func TestDeleteLosesTheRace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1)
	p, _ := f.create(t, 1, "ci")
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == transact {
			if err := f.pats.Delete(t.Context(), pat.AnyKind, 1, p.ID); err != nil {
				t.Error(err)
			}
			f.create(t, 1, "ci")
		}
		return c.Pass()
	})
	if err := pat.NewStore(client, f.Tables, f.LogThrough(client), rand.Reader).Delete(t.Context(), pat.AnyKind, 1,
		p.ID); !errors.Is(err, pat.ErrNotFound) {
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
		return pat.NewStore(client, f.Tables, f.LogThrough(client), rand.Reader)
	}
	_, list := refuse("Scan").List(t.Context())
	_, counter := refuse(get).LastID(t.Context())
	_, query := refuse("Query").ListOf(t.Context(), 1)
	_, _, read := refuse("BatchGetItem").Get(t.Context(), 1, 1)
	_, _, take := refuse(count).Create(t.Context(), newPAT(1, "new"), owner(10))
	_, _, create := refuse(transact).Create(t.Context(), newPAT(1, "new"), owner(10))
	_, _, random := pat.NewStore(f.Client, f.Tables, f.Log(), strings.NewReader("short")).Create(t.Context(),
		newPAT(1, "new"), owner(10))
	for _, tt := range []struct {
		want string
		err  error
	}{
		{"list PATs: ", list}, {"list PATs of user 1: ", query}, {"get PAT 1 of user 1: ", read},
		{"read the counter of PATs: ", counter},
		{"take an id for a PAT: ", take}, {"create a PAT: ", create}, {"make a secret: ", random},
		{"get PAT 1: ", refuse(get).Delete(t.Context(), pat.AnyKind, 1, 1)},
		{"delete PAT 1: ", refuse(transact).Delete(t.Context(), pat.AnyKind, 1, 1)},
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
	if err := f.pats.Delete(ctx, pat.AnyKind, 1, 1); !errors.Is(err, dynamo.ErrUnavailable) {
		t.Error(err)
	}
	f.requireConsistent(t)
}
