package clienttoken_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// tokens returns all tokens, ordered by name and time.
func (f *fixture) tokens(t *testing.T) []clienttokentable.Token {
	t.Helper()
	all, err := f.store.List(t.Context())
	assert.OK(t, err)
	return all
}

// create creates a token and returns its listed form.
func (f *fixture) create(t *testing.T, token clienttokentable.Token) string {
	t.Helper()
	token.Type, token.Environment, token.CreatedAt = clienttokentable.Backend, "production", now()
	created, _, err := f.store.Create(t.Context(), token, clienttoken.MaxTokens, &f.random)
	assert.OK(t, err)
	return created.Listed()
}

// rotate rotates a token at a time, and returns the listed form of its new secret.
func (f *fixture) rotate(t *testing.T, listed string, at time.Time) (string, error) {
	t.Helper()
	created, secret, err := f.store.Rotate(t.Context(), listed, at, time.Hour, clienttoken.MaxTokens, &f.random)
	if err != nil {
		return "", err
	}
	assert.Equal(t, true, created.Verifies(secret))
	return created.Listed(), nil
}

// A rotation returns the new secret, and the list has both. Each has a listed form, a time of last use, and an end.
func TestRotate(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	const (
		first  = "shop:development.v2_" + selector1
		second = "shop:development.v2_" + selector2

		rest = `"type":"client","project":"shop","projects":["shop"],"environment":"development",` +
			`"expiresAt":"2030-01-01T00:00:00.000Z"`
	)
	f.ExpectStatus(t.Context(), t, "create", "",
		`{"tokenName":"a","type":"backend","project":"shop","expiresAt":"2030-01-01T00:00:00Z"}`, 201)
	status, header, text := f.Serve(t.Context(), operation.Request{Operation: "rotate", Path: first, Body: `{}`})
	assert.Equal(t, fmt.Sprint(201, shown(second+random2, "a", rest)), fmt.Sprint(status, text))
	assert.Equal(t, "https://example.com/dev/api/"+second, header.Get("Location"))
	ending := strings.Replace(shown(first, "a", rest), `"validUntil":null`, `"validUntil":"2026-11-28T05:39:00.123Z"`, 1)
	f.Expect(t.Context(), t, "list", "", "", `200 {"tokens":[`+ending+`,`+shown(second, "a", rest)+`]}`)
	f.Expect(t.Context(), t, "rotate", first, `{}`, "409 ConflictError: The client token "+first+" is already replaced by "+
		second+". Rotate that one.")
	f.Expect(t.Context(), t, "rotate", second+random2, `{"overlapHours":720}`, "409 ConflictError: The client token "+second+
		" replaces "+first+", which is valid until 2026-11-28T05:39:00.123Z. Delete that one first, or wait until then.")
	assert.Equal(t, []int64{2, 0}, f.counts(t))

	f.ExpectStatus(t.Context(), t, "update", second, `{"expiresAt":null}`, 200) // both have the same expiry
	assert.Equal(t, []*time.Time{nil, nil}, []*time.Time{f.tokens(t)[0].ExpiresAt, f.tokens(t)[1].ExpiresAt})
	f.ExpectStatus(t.Context(), t, "delete", first, "", 200)
	f.ExpectStatus(t.Context(), t, "rotate", second, `{"overlapHours":720}`, 201)
	assert.Equal(t, "2026-12-27 05:39:00.123 +0000 UTC", f.tokens(t)[0].ValidUntil.String())
	for _, test := range []struct{ token, body, want string }{
		{"none", `{}`, noToken},
		{second, `{"overlapHours":0}`, "400 ValidationError: The `/body/overlapHours` property must be at least 1; you sent 0."},
		{second, `{"overlapHours":721}`, "400 ValidationError: The `/body/overlapHours` property must be at most 720; you sent 721."},
		{second, `{"hours":1}`, "400 ValidationError: The `/body/hours` property is unknown."},
	} {
		f.Expect(t.Context(), t, "rotate", test.token, test.body, test.want)
	}
}

// After the first secret has ended, the next rotation deletes it. A token never has three secrets.
func TestRotateAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	first := f.create(t, clienttokentable.Token{Name: "a"})
	second, err := f.rotate(t, first, now())
	assert.OK(t, err)
	_, err = f.rotate(t, second, now().Add(time.Hour-time.Millisecond))
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
	third, err := f.rotate(t, second, now().Add(time.Hour))
	assert.OK(t, err)
	var listed []string
	for _, token := range f.tokens(t) {
		listed = append(listed, token.Listed())
	}
	assert.Equal(t, []string{second, third}, listed)
	assert.Equal(t, []int64{0, 2}, f.counts(t))
	_, found, err := f.store.Check(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 0, len(found))

	// somebody has lost the new secret
	assert.OK(t, f.store.Delete(t.Context(), third))
	_, err = f.rotate(t, second, now().Add(90*time.Minute))
	assert.OK(t, err)
	assert.Equal(t, now().Add(150*time.Minute).Truncate(time.Millisecond), *f.tokens(t)[0].ValidUntil)
}

func TestRotateExpired(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	first := f.create(t, clienttokentable.Token{Name: "a", ExpiresAt: new(now().Add(30 * time.Minute))})
	_, err := f.rotate(t, first, now().Add(30*time.Minute))
	assert.Equal(t, "The client token "+first+" has expired.", apierror.From(err).Message)
	_, err = f.rotate(t, first, now())
	assert.OK(t, err)
	for _, token := range f.tokens(t) { // the overlap does not prolong the life of the token
		assert.Equal(t, true, token.Expired(now().Add(30*time.Minute)))
	}
}

// A rotation counts as a token: two secrets are two items of the list.
func TestRotateAboveTheLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clienttoken.Limits{Tokens: 1})
	first := f.create(t, clienttokentable.Token{Name: "a"})
	f.ExpectStatus(t.Context(), t, "rotate", first, `{}`, 403)
	assert.Equal(t, (*time.Time)(nil), f.tokens(t)[0].ValidUntil)
}

// Two rotations at the same time: one of them is refused.
func TestConcurrentRotations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	first := f.create(t, clienttokentable.Token{Name: "a"})
	client := f.Before(t, "TransactWriteItems", 1, func() {
		_, err := f.rotate(t, first, now())
		assert.OK(t, err)
	})
	store := clienttoken.NewStore(client, f.Tables, f.LogThrough(client))
	_, _, err := store.Rotate(t.Context(), first, now(), time.Hour, clienttoken.MaxTokens, &f.random)
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
	assert.Equal(t, 2, len(f.tokens(t)))
}

func TestEventsOfRotation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"client","project":"shop"}`, 201)
	f.ExpectStatus(t.Context(), t, "rotate", "shop:development.v2_"+selector1, `{"overlapHours":1}`, 201)
	data := func(selector, until string) string {
		return `{"id":"` + selector + `","tokenName":"a","type":"backend","environment":"development","projects":["shop"],` +
			`"expiresAt":null` + until
	}
	all := f.Events(t)
	assert.Equal(t, "api-token-rotated client-token:"+selector1+" by system: "+
		data(selector1, `,"validUntil":"2026-11-27T06:39:00.123Z","newId":"`+selector2+`"}`)+" before "+data(selector1, "}"),
		database.About(slices.Clone(all), "client-token:"+selector1)[1])
	assert.Equal(t, []string{"api-token-created client-token:" + selector2 + " by system: " + data(selector2, "}")},
		database.About(all, "client-token:"+selector2))
}

// Who gets a secret must see every project of the token.
func TestRotateTokenOfPrivateProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	f.PutPrivateProject(t)
	both := f.create(t, clienttokentable.Token{Name: "both", Projects: []string{"default", "secret"}})
	hidden := f.create(t, clienttokentable.Token{Name: "hidden", Projects: []string{"secret"}})
	f.Projects = f.ProjectReader()
	viewer := operation.Viewer(t.Context())
	f.Expect(viewer, t, "rotate", hidden, `{}`, noToken)
	f.Expect(viewer, t, "rotate", both, `{}`,
		"403 NoAccessError: You need access to every project of the client token to rotate it.")
	f.ExpectStatus(t.Context(), t, "rotate", both, `{}`, 201)
}

// Below a project, tokens of the project are listed, and those of it alone can be changed.
func TestTokensOfProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	f.PutPrivateProject(t)
	f.PutProjects(t, access.NewProject("shop", "Shop"))
	set := operation.Set{Projects: f.ProjectReader(), Parameters: []string{"projectId", "token"},
		Handlers: map[string]lambdahttp.HandlerFunc{
			"list":   clienttoken.ListOfProject(f.store),
			"create": clienttoken.CreateInProject(f.store, now, &f.random, unlimited()),
			"rotate": clienttoken.RotateInProject(f.store, now, &f.random, clienttoken.MaxTokens),
			"delete": clienttoken.DeleteInProject(f.store),
		}}
	several := f.create(t, clienttokentable.Token{Name: "several", Projects: []string{"shop", "secret"}})
	others := []string{f.create(t, clienttokentable.Token{Name: "all"}),
		f.create(t, clienttokentable.Token{Name: "other", Projects: []string{"default"}}), "none"}
	viewer := operation.Viewer(t.Context())
	created := set.Call(viewer, "create", "shop", `{"tokenName":"own","type":"frontend","projects":["shop"]}`)
	assert.Equal(t, true, strings.HasPrefix(created, `201 {"id":"shop:development.v2_`))
	own, _, _ := strings.Cut(strings.TrimPrefix(created, `201 {"id":"`), `"`)
	list := func(ctx context.Context) string {
		_, _, text := set.Serve(ctx, operation.Request{Operation: "list", Path: "shop"})
		return text
	}
	assert.Equal(t, `{"tokens":[`+shown(own, "own", `"type":"frontend","project":"shop","projects":["shop"],`+
		`"environment":"development","expiresAt":null`)+`,`+shown(several, "several", `"type":"client","project":"shop",`+
		`"projects":["shop"],"environment":"production","expiresAt":null`)+"]}", list(viewer))
	for _, call := range []struct{ operation, body string }{{"rotate", `{}`}, {"delete", ""}} {
		for _, token := range others {
			set.Expect(viewer, t, call.operation, "shop/"+token, call.body, noToken)
		}
		set.Expect(viewer, t, call.operation, "shop/"+several, call.body, "400 ValidationError: The client token "+several+
			" is not of the project \"shop\" alone. Use /api/admin/api-tokens, which needs a permission for all projects.")
		set.ExpectStatus(viewer, t, call.operation, "shop/"+own, call.body, map[string]int{"rotate": 201, "delete": 200}[call.operation])
	}
	for body, problem := range map[string]string{
		`"project":"default"`: "The `/body/project` property must be \"shop\", as in the path; you sent \"default\".",
		`"projects":["shop","default"]`: "The `/body/projects` property must contain only \"shop\", as in the path; " +
			"you sent \"default\".",
	} {
		set.Expect(viewer, t, "create", "shop", `{"tokenName":"x","type":"client",`+body+`}`, "400 ValidationError: "+problem)
	}
	set.Expect(viewer, t, "create", "shop", `{"type":"client"}`,
		"400 ValidationError: The `/body/tokenName` property is required; you did not send it.")
}
