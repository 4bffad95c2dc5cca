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
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/database"
)

// serve returns the response, and the error's status and message if there is one.
func serve(handler lambdahttp.HandlerFunc, r *http.Request) (w *httptest.ResponseRecorder, status int, message string) {
	w = httptest.NewRecorder()
	if err := handler(w, r); err != nil {
		e := apierror.From(err)
		return w, e.Kind.Status(), e.Message
	}
	return w, w.Code, ""
}

func post(ctx context.Context, id, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost,
		"https://api.example.com/prod/api/admin/service-account/"+id+"/token", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.SetPathValue("id", id)
	return r
}

// body is the body of a creation, with a description in JSON.
func body(description string) string {
	return `{"description":` + description + `,"expiresAt":"2027-11-20T05:39:00Z"}`
}

func newCreate(tb testing.TB, f *fixture, limit int) lambdahttp.HandlerFunc {
	tb.Helper()
	handler, err := pat.Create(f.pats, now, pat.Limits{PerAccount: limit})
	if err != nil {
		tb.Fatal(err)
	}
	return handler
}

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 7)
	handler := newCreate(t, f, 10)
	w, status, message := serve(handler,
		post(t.Context(), "0.7e+01", `{"description":" d\u00e9 ","expiresAt":"2026-11-20T06:39:00.1249+01:00"}`))
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, message)
	}
	if location := w.Header().Get("Location"); location != "https://api.example.com/prod/api/admin/service-account/7/token/1" {
		t.Errorf("Location %s", location)
	}
	stored := pat.FromItem(f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(7, 1)))
	_, secret, _ := strings.Cut(w.Body.String(), `,"secret":"`)
	secret = strings.TrimSuffix(secret, `"}`)
	if token, err := access.ParseToken(secret); err != nil || token.Verifier() != stored.Verifier ||
		token.Selector != access.PATSelector(7, 1) {
		t.Errorf("the secret is not that of the stored token: %v", err)
	}
	want := `{"id":1,"createdAt":"2026-11-20T05:39:00.123Z","seenAt":null,"userId":7,"description":" dé ",` +
		`"expiresAt":"2026-11-20T05:39:00.124Z","secret":"` + secret + `"}`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Error(diff)
	}
}

func TestCreateRejects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, 1, user.Person)
	f.serviceAccounts(t, 2)
	f.create(t, 2, "ci")
	handler := newCreate(t, f, 2)
	expiry := func(text string) string { return `{"description":"d","expiresAt":"` + text + `"}` }
	const (
		past        = "The `/body/expiresAt` property must be in the future; you sent "
		description = "The `/body/description` property "
	)
	noAccount := func(id string) string { return fmt.Sprintf("There is no service account with the id %q.", id) }
	for _, tt := range []struct {
		name, id, body string
		status         int
		want           string
	}{
		{"expires now", "2", expiry("2026-11-20T05:39:00.123Z"), 400, past + `"2026-11-20T05:39:00.123Z".`},
		{"white space", "2", body(`" \u3000"`), 400, description + "must not be only white space; you sent \" \u3000\"."},
		{"256 characters", "2", body(`"` + strings.Repeat("é", 256) + `"`), 400,
			description + `must have at most 255 characters; you sent "` + strings.Repeat("é", 100) + `…".`},
		{"nothing", "2", `{}`, 400,
			description + "is required; you did not send it. The `/body/expiresAt` property is required; you did not send it."},
		{"an unknown account and an invalid body", "3", `{}`, 400,
			description + "is required; you did not send it. The `/body/expiresAt` property is required; you did not send it."},
		{"an unknown account", "3", body(`"d"`), 404, noAccount("3")},
		{"a person", "1", body(`"d"`), 404, noAccount("1")},
		{"no number", "x", body(`"d"`), 404, noAccount("x")},
		{"a leading zero", "02", body(`"d"`), 404, noAccount("02")},
		{"a fraction", "2.5", body(`"d"`), 404, noAccount("2.5")},
		{"no path parameter", "", body(`"d"`), 404, noAccount("")},
		{"the same description", "2", body(`"c\u0069"`), 409, "The account already has a token with this description."},
	} {
		if _, status, got := serve(handler, post(t.Context(), tt.id, tt.body)); status != tt.status || got != tt.want {
			t.Errorf("%s: %d %s", tt.name, status, got)
		}
	}
	if w, status, message := serve(handler,
		post(t.Context(), "2", body(`"`+strings.Repeat("é", 255)+`"`))); status != http.StatusCreated {
		t.Errorf("255 characters: %d %s%s", status, message, w.Body)
	}
	if _, status, got := serve(handler, post(t.Context(), "2", body(`"d"`))); status != 403 ||
		got != "The account has reached the maximum number of tokens (2), including expired ones." {
		t.Errorf("above the limit: %d %s", status, got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, status, got := serve(handler, post(ctx, "2", body(`"d"`))); status != 503 {
		t.Errorf("without DynamoDB: %d %s", status, got)
	}
}

func TestDeleteOwnToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1, 2)
	f.create(t, 1, "mine")
	f.create(t, 2, "another account's")
	handler := pat.DeleteOwn(f.pats)
	remove := func(ctx context.Context, id string) (int, string) {
		r := httptest.NewRequestWithContext(access.WithPrincipal(ctx, access.UserPrincipal(1, access.RoleAdmin)),
			http.MethodDelete, "/api/admin/user/tokens/"+id, nil)
		r.SetPathValue("id", id)
		w, status, message := serve(handler, r)
		return status, message + w.Body.String()
	}
	for _, id := range []string{"2", "3", "0", "", "x", "01", "+1", "1.0", "4294967297"} {
		if status, got := remove(t.Context(), id); status != 404 || got != "You have no personal access token with this id." {
			t.Errorf("%q: %d %s", id, status, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if status, got := remove(ctx, "1"); status != 503 {
		t.Errorf("without DynamoDB: %d %s", status, got)
	}
	if status, got := remove(t.Context(), "1"); status != 200 || got != "" {
		t.Errorf("%d %s", status, got)
	}
	if status, _ := remove(t.Context(), "1"); status != 404 {
		t.Errorf("a second time: %d", status)
	}
}

// TestCreateWithinMaxTokenDays checks both operations: a day ends 24 hours later.
func TestCreateWithinMaxTokenDays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serviceAccounts(t, 1)
	limits := pat.Limits{PerAccount: 10, Days: 366}
	handler, err := pat.Create(f.pats, now, limits)
	own, ownErr := pat.CreateOwn(f.pats, now, limits)
	if err := errors.Join(err, ownErr); err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		handler lambdahttp.HandlerFunc
		expires string
		status  int
		want    string
	}{
		{handler, "2027-11-21T05:39:00.123Z", 201, ""},
		{own, "2027-11-21T05:39:00.123Z", 201, ""},
		{handler, "2027-11-21T05:39:00.124Z", 400,
			"The `/body/expiresAt` property must be at most 366 days from now; you sent \"2027-11-21T05:39:00.124Z\"."},
		{own, "9999-01-01T00:00:00Z", 400,
			"The `/body/expiresAt` property must be at most 366 days from now; you sent \"9999-01-01T00:00:00Z\"."},
		{handler, "2026-11-20T05:39:00Z", 400,
			"The `/body/expiresAt` property must be in the future; you sent \"2026-11-20T05:39:00Z\"."},
	} {
		r := post(access.WithPrincipal(t.Context(), access.UserPrincipal(1, access.RoleAdmin)), "1",
			fmt.Sprintf(`{"description":"%d","expiresAt":%q}`, i, tt.expires))
		if _, status, message := serve(tt.handler, r); status != tt.status || message != tt.want {
			t.Errorf("%s: %d %s", tt.expires, status, message)
		}
	}
}

func TestFunctionsNeedTheirVariables(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	env.Vars["MAX_TOKEN_DAYS"] = "36500"
	for _, limit := range []string{"0", "101", "-1", "ten", "1.0"} {
		env.Vars["MAX_TOKENS_PER_ACCOUNT"] = limit
		if _, err := pat.NewCreateFunction(env); err == nil ||
			!strings.Contains(err.Error(), "MAX_TOKENS_PER_ACCOUNT must be a number from 1 to 100") {
			t.Errorf("%s: %v", limit, err)
		}
	}
	env.Vars["MAX_TOKENS_PER_ACCOUNT"] = "1"
	for _, days := range []string{"36501", "-1", "x"} {
		env.Vars["MAX_TOKEN_DAYS"] = days
		if _, err := pat.NewCreateFunction(env); err == nil ||
			!strings.Contains(err.Error(), "MAX_TOKEN_DAYS must be a number of days from 0") {
			t.Errorf("%s: %v", days, err)
		}
	}
	env.Vars["MAX_TOKEN_DAYS"] = "0"
	for _, limit := range []string{"1", "100"} {
		env.Vars["MAX_TOKENS_PER_ACCOUNT"] = limit
		database.RequireVariables(t, env, pat.NewCreateFunction, "MAX_TOKEN_DAYS", "MAX_TOKENS_PER_ACCOUNT",
			"PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE")
	}
	for _, constructor := range []app.Constructor{pat.NewListFunction, pat.NewGetFunction, pat.NewDeleteFunction,
		pat.NewDeleteOwnFunction} {
		database.RequireVariables(t, env, constructor, "PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE")
	}
	database.RequireVariables(t, env, pat.NewListOwnFunction, "PERSONAL_ACCESS_TOKENS_TABLE")
	database.RequireVariables(t, env, pat.NewCreateOwnFunction, "MAX_TOKEN_DAYS", "MAX_TOKENS_PER_ACCOUNT",
		"PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE")
}
