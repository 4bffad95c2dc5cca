package pat_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/database"
)

// tokensFixture has a person, 1, with the tokens 1 and 4, and three service accounts: 2 with the tokens 2 and 5, 3 with
// the token 3, and 4 without tokens.
func tokensFixture(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.account(t, 1, user.Person)
	f.serviceAccounts(t, 2, 3, 4)
	for i, account := range []int64{1, 2, 3, 1, 2} {
		if _, _, err := f.pats.Create(t.Context(), newPAT(account, fmt.Sprint("d", i+1)),
			pat.Owner{Kind: pat.AnyKind, Limit: 10}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// call calls a handler as account 1, with path parameters, and returns the status and the body or the error's message.
func call(ctx context.Context, handler lambdahttp.HandlerFunc, id, tokenID string) (int, string) {
	r := httptest.NewRequestWithContext(access.WithPrincipal(ctx, access.UserPrincipal(1, access.RoleAdmin)),
		http.MethodGet, "/", nil)
	r.SetPathValue("id", id)
	r.SetPathValue("tokenId", tokenID)
	w, status, message := serve(handler, r)
	return status, message + w.Body.String()
}

// stored is the response for a token that create stored.
func stored(account, id int64) string {
	return fmt.Sprintf(`{"id":%d,"createdAt":"2026-11-20T05:39:00.123Z","seenAt":null,"userId":%d,"description":"d%d",`+
		`"expiresAt":"2027-11-20T05:39:00.123Z"}`,
		id, account, id)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	f := tokensFixture(t)
	item := f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(3, 3))
	item[pat.AttributeSeenAt] = item["createdAt"]
	f.Put(t, f.Tables.PersonalAccessTokens, item)
	list, get, remove := pat.List(f.pats, f.users), pat.Get(f.pats), pat.Delete(f.pats)
	seen := strings.Replace(stored(3, 3), `"seenAt":null`, `"seenAt":"2026-11-20T05:39:00.123Z"`, 1)
	noAccount := func(id string) string { return fmt.Sprintf("There is no service account with the id %q.", id) }
	noToken := func(id, tokenID string) string {
		return fmt.Sprintf("There is no service account with the id %q that has a token with the id %q.", id, tokenID)
	}
	type test struct {
		name, id, tokenID string
		handler           lambdahttp.HandlerFunc
		status            int
		want              string
	}
	tests := []test{
		{"list", "2", "", list, 200, `{"pats":[` + stored(2, 2) + "," + stored(2, 5) + `]}`},
		{"list a seen token", "30e-1", "", list, 200, `{"pats":[` + seen + `]}`},
		{"list none", "4", "", list, 200, `{"pats":[]}`},
		{"list a person's", "1", "", list, 404, noAccount("1")},
		{"list an unknown account's", "5", "", list, 404, noAccount("5")},
		{"list without a number", "x", "", list, 404, noAccount("x")},
		{"get", "2", "5", get, 200, stored(2, 5)},
		{"get with a floating-point number", "2.0", "2", get, 200, stored(2, 2)},
		{"get a seen token", "3", "3", get, 200, seen},
		{"list own", "", "", pat.ListOwn(f.pats), 200, `{"pats":[` + stored(1, 1) + "," + stored(1, 4) + `]}`},
	}
	for _, ids := range [][2]string{{"1", "1"}, {"2", "3"}, {"5", "2"}, {"2", "6"}, {"2", "2.0"}, {"2", "02"}, {"2", ""},
		{"2.5", "2"}, {"", "2"}} {
		tests = append(tests, test{"get another", ids[0], ids[1], get, 404, noToken(ids[0], ids[1])},
			test{"delete another", ids[0], ids[1], remove, 404, noToken(ids[0], ids[1])})
	}
	tests = append(tests, test{"delete", "2e0", "2", remove, 200, ""},
		test{"delete again", "2", "2", remove, 404, noToken("2", "2")},
		test{"get the deleted", "2", "2", get, 404, noToken("2", "2")},
		test{"list the others", "2", "", list, 200, `{"pats":[` + stored(2, 5) + `]}`})
	for _, tt := range tests {
		status, got := call(t.Context(), tt.handler, tt.id, tt.tokenID)
		if diff := cmp.Diff(tt.want, got); diff != "" || status != tt.status {
			t.Errorf("%s %q %q: status %d, want %d: %s", tt.name, tt.id, tt.tokenID, status, tt.status, diff)
		}
	}
	f.requireConsistent(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i, handler := range []lambdahttp.HandlerFunc{list, get, remove, pat.ListOwn(f.pats)} {
		if status, got := call(ctx, handler, "2", "5"); status != 503 {
			t.Errorf("without DynamoDB, %d: %d %s", i, status, got)
		}
	}
}

func TestCreateOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, 1, user.Person)
	f.serviceAccounts(t, 2)
	handler, err := pat.CreateOwn(f.pats, now, pat.Limits{PerAccount: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		caller int64
		body   string
		status int
		want   string // begin of the body, or the message
	}{
		{
			"a person", 1, body(`"d1"`), 201,
			`{"id":1,"createdAt":"2026-11-20T05:39:00.123Z","seenAt":null,"userId":1,"description":"d1",` +
				`"expiresAt":"2027-11-20T05:39:00.000Z","secret":"user:v2_`,
		},
		{"a service account, with the same description", 2, body(`"d1"`), 201, `{"id":2,`},
		{"above the limit", 1, body(`"d2"`), 403,
			"The account has reached the maximum number of tokens (1), including expired ones."},
		{"a deleted account", 3, body(`"d1"`), 401, "You need a valid credential in the Authorization header."},
		{"nothing", 1, `{}`, 400, "The `/body/description` property is required; you did not send it."},
	} {
		r := post(access.WithPrincipal(t.Context(), access.UserPrincipal(tt.caller, access.RoleViewer)), "", tt.body)
		w, status, message := serve(handler, r)
		if got := message + w.Body.String(); status != tt.status || !strings.HasPrefix(got, tt.want) ||
			w.Header().Get("Location") != "" {
			t.Errorf("%s: %d %s", tt.name, status, got)
		}
	}
	f.requireConsistent(t)
}

// TestListDuringDeletion checks that a list that an account's deletion overtakes is not empty: the account is gone.
func TestListDuringDeletion(t *testing.T) {
	t.Parallel()
	f := tokensFixture(t)
	var tap *database.Tap
	client, tap := f.Through(t, func(c *database.Call) (*http.Response, error) {
		response, err := c.Pass()
		if !strings.Contains(tap.Calls(), " ") { // it is the first one
			err = errors.Join(err, f.pats.DeleteOwner(t.Context(), user.ServiceAccount, 2))
		}
		return response, err
	})
	list := pat.List(pat.NewStore(client, f.Tables, nil, nil), user.NewStore(client, f.Tables, nil))
	if status, body := call(t.Context(), list, "2", ""); status != http.StatusNotFound {
		t.Error(status, body)
	}
}
