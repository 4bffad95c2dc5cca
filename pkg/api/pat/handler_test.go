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
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
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
// the token 3, and 4 without tokens. response returns how responses show the tokens.
func tokensFixture(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, 1, 2, 3, 4)
	for i, account := range []int64{1, 2, 3, 1, 2} {
		f.create(t, newPAT(account, fmt.Sprint("d", i+1)))
	}
	return f
}

// response returns how a response shows a token of tokensFixture. seenAt is JSON.
func response(id, account int, seenAt string) string {
	return fmt.Sprintf(`{"id":%d,"createdAt":"2026-11-20T05:39:00.123Z","seenAt":%s,"userId":%d,"description":"d%[1]d",`+
		`"expiresAt":"2027-11-20T05:39:00.123Z"}`, id, seenAt, account)
}

// body returns a request for a token that expires in less than a year.
func body(description string) string {
	return `{"description":"` + description + `","expiresAt":"2027-11-20T05:39:00Z"}`
}

const (
	tooMany     = "403 NoAccessError: The account has reached the maximum number of tokens (3), and none of them has expired. Delete one first."
	noOwnToken  = "404 NotFoundError: You have no personal access token with this id."
	noEntityTag = "412 PreconditionFailed: The resource has no entity tag, so only `*` matches it in `If-Match`."
	exists      = "412 PreconditionFailed: The resource exists and matches `If-None-Match`."
)

// noAccount is the response of an operation on an account that does not exist, or is a person's.
func noAccount(id string) string {
	return fmt.Sprintf("404 NotFoundError: There is no service account with the id %q.", id)
}

// noToken is the response of an operation on a token that does not exist, or is a person's. path is account/token.
func noToken(path string) string {
	account, id, _ := strings.Cut(path, "/")
	return fmt.Sprintf("404 NotFoundError: There is no service account with the id %q that has a token with the id %q.",
		account, id)
}

func TestCreate(t *testing.T) {
	t.Parallel()
	f := tokensFixture(t)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 3})
	status, header, text := h.Serve(ctx, operation.Request{Operation: "create", Path: "4",
		Body: `{"description":" d\u00e9 ","expiresAt":"2026-11-20T06:39:00.1249+01:00"}`})
	// two levels above the path of the request, and the rest
	if location := header.Get("Location"); status != 201 || location != "https://example.com/dev/api/4/token/6" {
		t.Errorf("%d %s, Location %s", status, text, location)
	}
	stored, err := pat.FromItem(f.Get(t, f.Tables["PersonalAccessTokens"], pat.Key(4, 6)))
	assert.OK(t, err)
	_, secret, _ := strings.Cut(text, `,"secret":"`)
	secret = strings.TrimSuffix(secret, `"}`)
	if token, err := access.ParseToken(secret); err != nil || token.Verifier() != stored.Verifier ||
		token.Selector != access.PATSelector(4, 6) {
		t.Errorf("the secret is not that of the stored token: %v", err)
	}
	assert.Equal(t, `{"id":6,"createdAt":"2026-11-20T05:39:00.123Z","seenAt":null,"userId":4,"description":" dé ",`+
		`"expiresAt":"2026-11-20T05:39:00.124Z","secret":"`+secret+`"}`, text)
	_, header, text = h.Serve(ctx, operation.Request{Operation: "createOwn", Body: body("d")})
	if !strings.HasPrefix(text, `{"id":7,`) || !strings.Contains(text, `"userId":1,`) || header.Get("Location") != "" {
		t.Errorf("%s, %v", text, header)
	}
	h.Expect(ctx, t, "createOwn", "", body("above the limit"), tooMany)
	for _, id := range []string{"5", "1", "x", "02", "2.5", ""} { // 1 is a person
		h.Expect(ctx, t, "create", id, body("d"), noAccount(id))
	}
	h.Expect(ctx, t, "create", "2", body(`\u00642`),
		"409 NameExistsError: The account already has a token with this description.")
	h.ExpectStatus(ctx, t, "create", "2", body(strings.Repeat("é", 255)), 201)
	h.Expect(ctx, t, "create", "2", body("d"), tooMany)
	ctx = access.WithPrincipal(ctx, access.UserPrincipal(5, access.RoleViewer)) // a deleted account
	h.ExpectStatus(ctx, t, "createOwn", "", body("d"), 401)
	f.requireConsistent(t)
}

func TestCreateRejectsInvalidBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, 2)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 3})
	for _, test := range []struct{ account, body, message string }{
		{
			"2", `{}`,
			"The `/body/description` property is required; you did not send it. " +
				"The `/body/expiresAt` property is required; you did not send it.",
		},
		{ // the body is read before the account
			"5", `{}`,
			"The `/body/description` property is required; you did not send it. " +
				"The `/body/expiresAt` property is required; you did not send it.",
		},
		{
			"2", `{"description":"d","expiresAt":"2026-11-20T05:39:00.123Z"}`,
			"The `/body/expiresAt` property must be in the future; you sent \"2026-11-20T05:39:00.123Z\".",
		},
		{
			"2", body(` \u3000`),
			"The `/body/description` property must not be only white space; you sent \" \u3000\".",
		},
		{
			"2", body(strings.Repeat("é", 256)),
			"The `/body/description` property must have at most 255 characters; you sent \"" +
				strings.Repeat("é", 100) + "…\".",
		},
	} {
		h.Expect(ctx, t, "create", test.account, test.body, "400 ValidationError: "+test.message)
		h.Expect(ctx, t, "createOwn", "", test.body, "400 ValidationError: "+test.message)
	}
}

// A day ends 24 hours later.
func TestCreateWithinMaxTokenDays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, 2)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 10, Days: 366})
	for _, operation := range []string{"create", "createOwn"} {
		h.ExpectStatus(ctx, t, operation, "2", `{"description":"d","expiresAt":"2027-11-21T05:39:00.123Z"}`, 201)
		for _, test := range []struct{ expiresAt, message string }{
			{"2027-11-21T05:39:00.124Z", "must be at most 366 days from now"},
			{"9999-01-01T00:00:00Z", "must be at most 366 days from now"},
			{"2026-11-20T05:39:00Z", "must be in the future"},
		} {
			h.Expect(ctx, t, operation, "2", `{"description":"e","expiresAt":"`+test.expiresAt+`"}`,
				fmt.Sprintf("400 ValidationError: The `/body/expiresAt` property %s; you sent %q.", test.message,
					test.expiresAt))
		}
	}
}

func TestListAndGet(t *testing.T) {
	t.Parallel()
	f := tokensFixture(t)
	item := f.Get(t, f.Tables["PersonalAccessTokens"], pat.Key(3, 3))
	item[pat.AttributeSeenAt] = item["createdAt"]
	f.Put(t, f.Tables["PersonalAccessTokens"], item)
	used := response(3, 3, `"2026-11-20T05:39:00.123Z"`)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 3})
	for _, test := range []struct{ operation, path, want string }{
		{"list", "2", `200 {"pats":[` + response(2, 2, "null") + "," + response(5, 2, "null") + `]}`},
		{"list", "3", `200 {"pats":[` + used + `]}`},
		{"list", "4", `200 {"pats":[]}`},
		{"list", "1", noAccount("1")}, // a person
		{"list", "5", noAccount("5")},
		{"list", "x", noAccount("x")},
		{"get", "2/5", "200 " + response(5, 2, "null")},
		{"get", "2/2", "200 " + response(2, 2, "null")},
		{"get", "3/3", "200 " + used},
		{"listOwn", "", `200 {"pats":[` + response(1, 1, "null") + "," + response(4, 1, "null") + `]}`},
	} {
		h.Expect(ctx, t, test.operation, test.path, "", test.want)
	}
}

func TestUnknownTokens(t *testing.T) {
	t.Parallel()
	f := tokensFixture(t)
	ctx, h := f.handlers(t, f.pats, pat.Limits{})
	for _, path := range []string{"1/1", "2/3", "5/2", "2/6", "2/2.0", "2/02", "2/", "2.5/2", "/2"} {
		h.Expect(ctx, t, "get", path, "", noToken(path))
		h.Expect(ctx, t, "delete", path, "", noToken(path))
	}
	for _, id := range []string{"2", "6", "0", "", "x", "01", "+1", "1.0", "4294967297"} {
		h.Expect(ctx, t, "deleteOwn", id, "", noOwnToken)
	}
}

// A token has no entity tag.
func TestDeletePreconditions(t *testing.T) {
	t.Parallel()
	f := tokensFixture(t)
	ctx, h := f.handlers(t, f.pats, pat.Limits{})
	for _, test := range []struct{ header, value, want string }{
		{"If-Match", `"old"`, noEntityTag},
		{"If-None-Match", "*", exists},
	} {
		set := h.With(test.header, test.value)
		set.Expect(ctx, t, "delete", "2/2", "", test.want)
		set.Expect(ctx, t, "deleteOwn", "1", "", test.want)
		set.Expect(ctx, t, "delete", "1/1", "", noToken("1/1")) // the token of a person
		set.Expect(ctx, t, "delete", "2/3", "", noToken("2/3"))
		set.Expect(ctx, t, "deleteOwn", "2", "", noOwnToken)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	f := tokensFixture(t)
	ctx, h := f.handlers(t, f.pats, pat.Limits{})
	for _, test := range []struct{ operation, path, want string }{
		{"delete", "2/2", "200"},
		{"list", "2", `200 {"pats":[` + response(5, 2, "null") + `]}`},
		{"get", "2/2", noToken("2/2")},
		{"delete", "2/2", noToken("2/2")},
		{"deleteOwn", "1", "200"},
		{"deleteOwn", "1", noOwnToken},
		{"listOwn", "", `200 {"pats":[` + response(4, 1, "null") + `]}`},
	} {
		h.Expect(ctx, t, test.operation, test.path, "", test.want)
	}
	f.requireConsistent(t)
}

// Without DynamoDB every operation is a 503.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, 2)
	ctx, h := f.handlers(t, f.pats, pat.Limits{PerAccount: 3})
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	for _, operation := range []string{"list", "get", "delete", "listOwn", "deleteOwn", "create", "createOwn"} {
		h.ExpectStatus(ctx, t, operation, "2/5", body("d"), 503)
	}
}

// TestListDuringDeletion checks that a list that an account's deletion overtakes is not empty: the account is gone.
func TestListDuringDeletion(t *testing.T) {
	t.Parallel()
	f := tokensFixture(t)
	client := f.Before(t, get, 1, func() { // the tokens were read
		assert.OK(t, f.pats.DeleteOwner(t.Context(), user.ServiceAccount, 2, false))
	})
	ctx, h := f.handlers(t, f.through(client), pat.Limits{})
	h.Expect(ctx, t, "list", "2", "", noAccount("2"))
}
func TestLimitsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	env.Vars["MAX_TOKENS_PER_ACCOUNT"], env.Vars["MAX_TOKEN_DAYS"] = "101", "36501"
	_, err := app.Find(pat.Operations(), "create-pat")(env)
	assert.Equal(t, `the environment variable MAX_TOKENS_PER_ACCOUNT must be a number from 1 to 100, not "101"`+"\n"+
		`the environment variable MAX_TOKEN_DAYS must be a number from 0 to 36500, not "36501"`, fmt.Sprint(err))
}
