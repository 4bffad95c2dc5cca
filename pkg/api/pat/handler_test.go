package pat_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/operation"
)

// handlers returns the operations on a store, and the context of the caller, account 1.
func (f *fixture) handlers(tb testing.TB, store *pat.Store, limits pat.Limits) (context.Context, operation.Set) {
	tb.Helper()
	set := operation.Set{Parameters: []string{"id", "tokenId"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"create": pat.Create(store, now, limits), "list": pat.List(store), "get": pat.Get(store),
		"delete": pat.Delete(store), "createOwn": pat.CreateOwn(store, now, limits), "listOwn": pat.ListOwn(store),
		"deleteOwn": pat.DeleteOwn(store),
	}}
	return access.WithPrincipal(tb.Context(), access.UserPrincipal(1, access.RoleViewer)), set
}

// tokensFixture has a person, 1, with the tokens 1 and 4, and three service accounts: 2 with the tokens 2 and 5, 3 with
// the token 3, and 4 without tokens. The replacer replaces the names of tokens by their responses.
func tokensFixture(t *testing.T) (*fixture, *strings.Replacer) {
	t.Helper()
	f := newFixture(t, 1, 2, 3, 4)
	names := []string{"YEAR", `"expiresAt":"2027-11-20T05:39:00Z"`, "400 /", "400 ValidationError: The ^/body/", "; /", " The ^/body/", "~", "^ property must",
		"MISSING", "^ property is required; you did not send it.",
		"404 ACCOUNT", "404 NotFoundError: There is no service account with the id", "403 MANY",
		"403 NoAccessError: The account has reached the maximum number of tokens (3), and none of them has expired."}
	for i, account := range []int64{1, 2, 3, 1, 2} {
		p := f.create(t, newPAT(account, fmt.Sprint("d", i+1)))
		names = append(names, fmt.Sprint("TOKEN", p.ID), fmt.Sprintf(`{"id":%d,"createdAt":"2026-11-20T05:39:00.123Z",`+
			`"seenAt":null,"userId":%d,"description":"d%[1]d","expiresAt":"2027-11-20T05:39:00.123Z"}`, p.ID, account))
	}
	return f, strings.NewReplacer(names...)
}

func TestCreate(t *testing.T) {
	t.Parallel()
	f, names := tokensFixture(t)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 3})
	status, header, text := h.Serve(ctx, operation.Request{Operation: "create", Path: "0.4e+01",
		Body: `{"description":" d\u00e9 ","expiresAt":"2026-11-20T06:39:00.1249+01:00"}`})
	// two levels above the path of the request, and the rest
	if location := header.Get("Location"); status != 201 || location != "https://example.com/dev/api/4/token/6" {
		t.Errorf("%d %s, Location %s", status, text, location)
	}
	stored := pat.FromItem(f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(4, 6)))
	_, secret, _ := strings.Cut(text, `,"secret":"`)
	secret = strings.TrimSuffix(secret, `"}`)
	if token, err := access.ParseToken(secret); err != nil || token.Verifier() != stored.Verifier ||
		token.Selector != access.PATSelector(4, 6) {
		t.Errorf("the secret is not that of the stored token: %v", err)
	}
	assert.Equal(t, `{"id":6,"createdAt":"2026-11-20T05:39:00.123Z","seenAt":null,"userId":4,"description":" dé ",`+
		`"expiresAt":"2026-11-20T05:39:00.124Z","secret":"`+secret+`"}`, text)
	_, header, text = h.Serve(ctx, operation.Request{Operation: "createOwn", Body: names.Replace(`{"description":"d",YEAR}`)})
	if !strings.HasPrefix(text, `{"id":7,`) || !strings.Contains(text, `"userId":1,`) || header.Get("Location") != "" {
		t.Errorf("%s, %v", text, header)
	}
	h.Run(ctx, t, names.Replace(`
		createOwn | | {"description":"above the limit",YEAR} | 403 MANY
		create createOwn | 2 | {} | 400 /descriptionMISSING; /expiresAtMISSING
		create createOwn | 2 | {"description":"d","expiresAt":"2026-11-20T05:39:00.123Z"} | 400 /expiresAt~ be in the future; you sent "2026-11-20T05:39:00.123Z".
		create | 2 | {"description":" \u3000",YEAR} | 400 /description~ not be only white space; you sent "…
		create | 2 | {"description":"255×éé",YEAR} | 400 /description~ have at most 255 characters; you sent "100×é…".
		# the body is read first
		create | 5 | {} | 400 /descriptionMISSING; /expiresAtMISSING
		create | 5 | {"description":"d",YEAR} | 404 ACCOUNT "5".
		# a person
		create | 1 | {"description":"d",YEAR} | 404 ACCOUNT "1".
		create | x | {"description":"d",YEAR} | 404 ACCOUNT "x".
		create | 02 | {"description":"d",YEAR} | 404 ACCOUNT "02".
		create | 2.5 | {"description":"d",YEAR} | 404 ACCOUNT "2.5".
		create | | {"description":"d",YEAR} | 404 ACCOUNT "".
		create | 2 | {"description":"\u00642",YEAR} | 409 NameExistsError: The account already has a token with this description.
		create | 2 | {"description":"255×é",YEAR} | 201 {…
		create | 2 | {"description":"d",YEAR} | 403 MANY
	`))
	ctx = access.WithPrincipal(ctx, access.UserPrincipal(5, access.RoleViewer)) // a deleted account
	h.Run(ctx, t, names.Replace(`createOwn | | {"description":"d",YEAR} | 401 AuthenticationRequired: …`))
	f.requireConsistent(t)
}

// A day ends 24 hours later.
func TestCreateWithinMaxTokenDays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, 2)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 10, Days: 366})
	h.Run(ctx, t, strings.ReplaceAll(`
		create | 2 | {"description":"a","expiresAt":"2027-11-21T05:39:00.123Z"} | 201 {…
		createOwn | | {"description":"b","expiresAt":"2027-11-21T05:39:00.123Z"} | 201 {…
		create createOwn | 2 | {"description":"c","expiresAt":"2027-11-21T05:39:00.124Z"} | 400 MUST be at most 366 days from now; you sent "2027-11-21T05:39:00.124Z".
		create createOwn | 2 | {"description":"c","expiresAt":"9999-01-01T00:00:00Z"} | 400 MUST be at most 366 days from now; you sent "9999-01-01T00:00:00Z".
		create createOwn | 2 | {"description":"c","expiresAt":"2026-11-20T05:39:00Z"} | 400 MUST be in the future; you sent "2026-11-20T05:39:00Z".
	`, "MUST", "ValidationError: The ^/body/expiresAt^ property must"))
}

func TestTokens(t *testing.T) {
	t.Parallel()
	f, names := tokensFixture(t)
	item := f.Get(t, f.Tables.PersonalAccessTokens, pat.Key(3, 3))
	item[pat.AttributeSeenAt] = item["createdAt"]
	f.Put(t, f.Tables.PersonalAccessTokens, item)
	seen := strings.Replace(names.Replace("TOKEN3"), `"seenAt":null`, `"seenAt":"2026-11-20T05:39:00.123Z"`, 1)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 3})
	h.Run(ctx, t, strings.ReplaceAll(names.Replace(`
		list | 2 | | 200 {"pats":[TOKEN2,TOKEN5]}
		list | 30e-1 | | 200 {"pats":[SEEN]}
		list | 4 | | 200 {"pats":[]}
		# a person
		list | 1 | | 404 ACCOUNT "1".
		list | 5 | | 404 ACCOUNT "5".
		list | x | | 404 ACCOUNT "x".
		get | 2/5 | | 200 TOKEN5
		get | 2.0/2 | | 200 TOKEN2
		get | 3/3 | | 200 SEEN
		listOwn | | | 200 {"pats":[TOKEN1,TOKEN4]}
	`), "SEEN", seen))
	none := func(path string) {
		account, id, _ := strings.Cut(path, "/")
		h.Run(ctx, t, fmt.Sprintf(`get delete | %s | | 404 NotFoundError: There is no service account with the id %q that `+
			`has a token with the id %q.`, path, account, id))
	}
	for _, path := range []string{"1/1", "2/3", "5/2", "2/6", "2/2.0", "2/02", "2/", "2.5/2", "/2"} {
		none(path)
	}
	for _, id := range []string{"2", "6", "0", "", "x", "01", "+1", "1.0", "4294967297"} {
		h.Run(ctx, t, "deleteOwn | "+id+" | | 404 NotFoundError: You have no personal access token with this id.")
	}
	// A token has no entity tag.
	for name, value := range map[string]string{"If-Match": `"old"`, "If-None-Match": "*"} {
		h.With(name, value).Run(ctx, t, `
			delete | 2/2 | | 412 PreconditionFailed: …
			deleteOwn | 1 | | 412 PreconditionFailed: …
			# the token of a person, and tokens that do not exist
			delete | 1/1 | | 404 …
			delete | 2/3 | | 404 …
			deleteOwn | 2 | | 404 …
		`)
	}
	h.Run(ctx, t, names.Replace(`
		delete | 2e0/2 | | 200
		list | 2 | | 200 {"pats":[TOKEN5]}
		deleteOwn | 1 | | 200
		deleteOwn | 1 | | 404 …
		listOwn | | | 200 {"pats":[TOKEN4]}
	`))
	none("2/2")
	f.requireConsistent(t)
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	h.Run(ctx, t, names.Replace(`
		list get delete listOwn deleteOwn | 2/5 | | 503 …
		create createOwn | 2 | {"description":"d",YEAR} | 503 …
	`))
}

// TestListDuringDeletion checks that a list that an account's deletion overtakes is not empty: the account is gone.
func TestListDuringDeletion(t *testing.T) {
	t.Parallel()
	f, _ := tokensFixture(t)
	client := f.Before(t, get, 1, func() { // the tokens were read
		assert.OK(t, f.pats.DeleteOwner(t.Context(), user.ServiceAccount, 2))
	})
	ctx, h := f.handlers(t, f.through(client), pat.Limits{})
	h.Run(ctx, t, "list | 2 | | 404 …")
}

func TestLimitsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	env.Vars["MAX_TOKENS_PER_ACCOUNT"], env.Vars["MAX_TOKEN_DAYS"] = "101", "36501"
	_, err := app.Find(pat.Operations(), "create-own-token")(env)
	assert.Equal(t, `the environment variable MAX_TOKENS_PER_ACCOUNT must be a number from 1 to 100, not "101"`+"\n"+
		`the environment variable MAX_TOKEN_DAYS must be a number from 0 to 36500, not "36501"`, fmt.Sprint(err))
}
