package clienttoken_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func now() time.Time { return time.Date(2026, 11, 27, 5, 39, 0, 123_987_654, time.UTC) }

// numbered is a source of randomness. Its first read has the bytes 1, the second one the bytes 2, and so on. The
// creation of a token reads its selector, then its secret.
type numbered byte

func (n *numbered) Read(p []byte) (int, error) {
	*n++
	for i := range p {
		p[i] = byte(*n)
	}
	return len(p), nil
}

// The selectors and random parts of the first two tokens.
const (
	selector1 = "AQEBAQEBAQEBAQEBAQEBAQ"
	random1   = "_AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"
	selector2 = "AwMDAwMDAwMDAwMDAwMDAw"
	random2   = "_BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ"
)

// fixture has the environments development and production, and some projects.
type fixture struct {
	*database.Database
	operation.Set
	store        *clienttoken.Store
	environments *environment.Store
	random       numbered
}

func newFixture(t *testing.T, limits clienttoken.Limits) *fixture {
	t.Helper()
	db := database.New(t)
	f := &fixture{
		Database:     db,
		store:        clienttoken.NewStore(db.Client, db.Tables, db.Log()),
		environments: environment.NewStore(db.Client, db.Tables, db.Log()),
	}
	f.Set = operation.Set{Parameters: []string{"token"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"list":   clienttoken.List(f.store),
		"create": clienttoken.Create(f.store, now, &f.random, limits),
		"update": clienttoken.Update(f.store, now, limits.Days),
		"delete": clienttoken.Delete(f.store),
		"rotate": clienttoken.Rotate(f.store, now, &f.random, limits.Tokens),
	}}
	for _, e := range environment.Defaults() {
		_, err := f.environments.Create(t.Context(), e)
		assert.OK(t, err)
	}
	for _, id := range []string{"shop", "blog", "x", "y", "p"} {
		f.PutProjects(t, access.NewProject(id, id))
	}
	return f
}

// unlimited are limits that no test reaches by accident.
func unlimited() clienttoken.Limits { return clienttoken.Limits{Tokens: clienttoken.MaxTokens} }

// counts returns the numbers of tokens of development and production.
func (f *fixture) counts(t *testing.T) []int64 {
	t.Helper()
	all, err := environment.ReferencesStore(f.Client, f.Tables).Read(t.Context(), []string{"development", "production"})
	assert.OK(t, err)
	return []int64{all["development"].Tokens, all["production"].Tokens}
}

// shown returns how responses show a token. rest is what they have from the type on.
func shown(secret, name, rest string) string {
	before, body, _ := strings.Cut(secret, ".v2_")
	return fmt.Sprintf(`{"id":%q,"secret":%q,"tokenName":%q,%s,"createdAt":"2026-11-27T05:39:00.123Z","alias":null,`+
		`"seenAt":null,"secure":true,"validUntil":null,"imported":false}`, before+".v2_"+body[:len(selector1)], secret, name, rest)
}

const noToken = "404 NotFoundError: There is no such client token."

func TestOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	const (
		first  = "*:development.v2_" + selector1
		second = "[]:production.v2_" + selector2

		ofFirst  = `"project":"*","projects":["*"],"environment":"development","expiresAt":null`
		ofSecond = `"project":"shop,blog","projects":["shop","blog"],"environment":"production","expiresAt":"2030-01-01T00:00:00.000Z"`
		later    = `"project":"shop,blog","projects":["shop","blog"],"environment":"production","expiresAt":"2031-01-01T00:00:00.000Z"`
	)
	list := func(tokens ...string) string { return `200 {"tokens":[` + strings.Join(tokens, ",") + "]}" }
	for _, call := range []struct{ operation, token, body, want string }{
		{"list", "", "", list()},
		{"create", "", `{"tokenName":"b","type":"backend"}`, "201 " + shown(first+random1, "b", `"type":"backend",`+ofFirst)},
		{"create", "", `{"username":"a","type":"frontend","environment":"production","projects":["shop","blog","shop"],` +
			`"expiresAt":"2030-01-01T01:00:00+01:00","alias":null,"secure":false}`,
			"201 " + shown(second+random2, "a", `"type":"frontend",`+ofSecond)},
		// lists have the older name of the type, and no secrets
		{"list", "", "", list(shown(second, "a", `"type":"frontend",`+ofSecond), shown(first, "b", `"type":"client",`+ofFirst))},

		{"update", second, `{"expiresAt":"2031-01-01T00:00:00Z","tokenName":"ignored"}`, "200"},
		{"update", first + random1, `{"expiresAt":null}`, "200"},
		{"list", "", "", list(shown(second, "a", `"type":"frontend",`+later), shown(first, "b", `"type":"client",`+ofFirst))},

		{"delete", first + random1, "", "200"},
		{"delete", first + random1, "", noToken},
		{"update", first, `{"expiresAt":null}`, noToken},
		{"delete", second, "", "200"},
		{"list", "", "", list()},
	} {
		f.Expect(t.Context(), t, call.operation, call.token, call.body, call.want)
	}
}

// A path identifies a token only by its exact listed form or its exact secret.
func TestOtherTexts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"frontend","project":"shop"}`, 201)
	for _, text := range []string{
		selector1,
		"v2_" + selector1,
		"*:development.v2_" + selector1,
		"shop:production.v2_" + selector1,
		"shop:development.v2_" + selector2,
		"shop:development.v2_" + selector1 + random2,
		"*:development.v2_" + selector1 + random1,
		"#version",
		"*:*.v2_" + selector1 + random1,
	} {
		f.Expect(t.Context(), t, "update", text, `{"expiresAt":null}`, noToken)
		f.Expect(t.Context(), t, "delete", text, "", noToken)
	}
	f.Expect(t.Context(), t, "delete", "shop:development.v2_"+selector1, "", "200")
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"frontend"}`, 201)
	listed, tagged := "*:development.v2_"+selector1, f.With("If-Match", `"x"`)
	for _, call := range []struct{ operation, body string }{{"update", `{"expiresAt":null}`}, {"delete", ""}} {
		tagged.ExpectStatus(t.Context(), t, call.operation, listed, call.body, 412)
		tagged.ExpectStatus(t.Context(), t, call.operation, "none", call.body, 404)
		f.With("If-Match", "*").ExpectStatus(t.Context(), t, call.operation, listed, call.body, 200)
	}
}

// The response of a creation has the type that was sent, and each project once.
func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	for body, want := range map[string]string{
		`"type":"client"`:                              `"type":"client","project":"*","projects":["*"]`,
		`"type":"backend","projects":["*","x"]`:        `"type":"backend","project":"*","projects":["*"]`,
		`"type":"backend","project":"*"`:               `"type":"backend","project":"*","projects":["*"]`,
		`"type":"frontend","project":"x"`:              `"type":"frontend","project":"x","projects":["x"]`,
		`"type":"frontend","projects":["x","x"]`:       `"type":"frontend","project":"x","projects":["x"]`,
		`"type":"frontend","projects":["y","x"]`:       `"type":"frontend","project":"y,x","projects":["y","x"]`,
		`"type":"frontend","environment":"production"`: `"projects":["*"],"environment":"production","expiresAt":null`,
	} {
		status, header, text := f.Serve(t.Context(),
			operation.Request{Operation: "create", Body: `{"tokenName":" not unique ",` + body + `}`})
		if status != 201 || !strings.Contains(text, want) || !strings.Contains(text, `"tokenName":" not unique "`) {
			t.Errorf("%s: %d %s", body, status, text)
		}
		_, secret, _ := strings.Cut(text, `"secret":"`)
		listed := secret[:strings.Index(secret, "v2_")+25]
		if location := header.Get("Location"); !strings.HasSuffix(location, "/"+strings.NewReplacer("[", "%5B", "]",
			"%5D").Replace(listed)) && !strings.HasSuffix(location, "/"+listed) {
			t.Errorf("the location of %s is %s", listed, location)
		}
	}
}

func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	const environmentMust = "The `/body/environment` property must be the name of an environment; you sent "
	for _, test := range []struct{ body, want string }{
		{`{}`, "The `/body/type` property is required; you did not send it."},
		{`{"type":"client"}`, "The `/body/tokenName` property is required; you did not send it."},
		{`{"tokenName":"a","username":"a","type":"client"}`,
			"The `/body/username` property must not be sent together with `/body/tokenName`."},
		{`{"tokenName":" ","type":"client"}`, "The `/body/tokenName` property must not be only white space; you sent \" \"."},
		{`{"tokenName":"a","type":"admin"}`,
			"The `/body/type` property must be one of \"backend\", \"client\", \"frontend\"; you sent \"admin\"."},
		{`{"tokenName":"a","type":"client","project":"x","projects":["x"]}`,
			"The `/body/projects` property must not be sent together with `/body/project`."},
		{`{"tokenName":"a","type":"client","projects":[]}`,
			"The `/body/projects` property must have 1 or more elements; you sent []."},
		{`{"tokenName":"a","type":"client","projects":["a,b"]}`, "The `/body/projects/0` property must be *, or have only the " +
			"characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; you sent \"a,b\"."},
		{`{"tokenName":"a","type":"client","expiresAt":"2026-11-27T05:39:00Z"}`,
			"The `/body/expiresAt` property must be in the future; you sent \"2026-11-27T05:39:00Z\"."},
		{`{"tokenName":"a","type":"client","environments":"production"}`,
			"The `/body/environments` property is unknown; the closest one is `environment`."},
		{`{"tokenName":"a","type":"client","environment":"none"}`, environmentMust + `"none".`},
		{`{"tokenName":"a","type":"client","environment":"*"}`, environmentMust + `"*".`},
	} {
		f.Expect(t.Context(), t, "create", "", test.body, "400 ValidationError: "+test.want)
	}
	for body, want := range map[string]string{
		`{}`: "The `/body/expiresAt` property is required; you did not send it.",
		`{"expiresAt":"2026-11-27T05:39:00Z"}`: "The `/body/expiresAt` property must be in the future; you sent " +
			"\"2026-11-27T05:39:00Z\".",
		`{"expiresAt":null,"expires":null}`: "The `/body/expires` property is unknown; the closest one is `expiresAt`.",
	} {
		f.Expect(t.Context(), t, "update", "x", body, "400 ValidationError: "+want)
	}
}

// MaxTokenDays applies to a creation and to a change. A token without an expiry is too long-lived, too.
func TestMaxTokenDays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clienttoken.Limits{Tokens: 10, Days: 30})
	must := "400 ValidationError: The `/body/expiresAt` property must be at most 30 days from now; you "
	f.Expect(t.Context(), t, "create", "", `{"tokenName":"a","type":"client"}`, must+"did not send it.")
	f.Expect(t.Context(), t, "create", "", `{"tokenName":"a","type":"client","expiresAt":"2026-12-27T05:39:01Z"}`,
		must+`sent "2026-12-27T05:39:01Z".`)
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"client","expiresAt":"2026-12-27T05:39:00Z"}`, 201)
	listed := "*:development.v2_" + selector1
	f.Expect(t.Context(), t, "update", listed, `{"expiresAt":null}`, must+"sent null.")
	f.Expect(t.Context(), t, "update", listed, `{"expiresAt":"2026-11-28T00:00:00Z"}`, "200")
}

// Tokens that have expired count until they are deleted.
func TestLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clienttoken.Limits{Tokens: 2})
	expired := now().AddDate(-1, 0, 0)
	_, _, err := f.store.Create(t.Context(), clienttokentable.Token{Name: "old", Environment: "production",
		ExpiresAt: &expired, CreatedAt: expired}, 2, &f.random)
	assert.OK(t, err)
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"client"}`, 201)
	const full = "403 NoAccessError: The maximum number of client tokens (2), including expired ones, is reached. Delete one first."
	f.Expect(t.Context(), t, "create", "", `{"tokenName":"b","type":"client"}`, full)
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"b","type":"client","environment":"none"}`, 400)
	f.ExpectStatus(t.Context(), t, "delete", "*:production.v2_"+selector1, "", 200)
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"b","type":"client"}`, 201)
	f.Expect(t.Context(), t, "create", "", `{"tokenName":"c","type":"client"}`, full)
	_, found, err := f.store.Check(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 0, len(found))
}

// A creation does not read the other tokens: they are counted, and doctor corrects the count.
func TestCount(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	for i := range 3 {
		f.Put(t, f.Tables[clienttokentable.Table], clienttokentable.Marshal(
			clienttokentable.Token{Selector: access.Selector{byte(i + 1)}, CreatedAt: now()}))
	}
	assert.Equal(t, []string{"the number of all client tokens is 3, and 0 is stored"}, repair(t, f.store.Check))
	assert.Equal(t, []string(nil), repair(t, f.store.Check))
	client, calls := f.Through(t, nil)
	_, _, err := clienttoken.NewStore(client, f.Tables, f.LogThrough(client)).Create(t.Context(),
		clienttokentable.Token{Name: "a", Environment: "production", CreatedAt: now()}, 4, &f.random)
	assert.OK(t, err)
	assert.Equal(t, 0, strings.Count(calls.Calls(), "Scan"))
	_, _, err = f.store.Create(t.Context(), clienttokentable.Token{Name: "b", Environment: "production", CreatedAt: now()}, 4,
		&f.random)
	assert.Equal(t, apierror.NoAccess, apierror.KindOf(err))
}

// A token has at most 20 projects, so that the list of all tokens fits into a response.
func TestManyProjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	for n, want := range map[int]int{20: 201, 21: 400} {
		f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"client","projects":["p`+
			strings.Repeat(`","p`, n-1)+`"]}`, want)
	}
}

// An environment with tokens cannot be deleted, and its tokens are counted.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"client","environment":"production"}`, 201)
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"b","type":"client"}`, 201)
	assert.Equal(t, []int64{1, 1}, f.counts(t))
	nothing := func(environment.Environment) error { return nil }
	_, err := f.environments.MarkDeleted(t.Context(), "production", nothing)
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
	const want = `The environment "production" is in use. The number of its client tokens is 1. Delete them first.`
	assert.Equal(t, want, apierror.From(err).Message)
	f.ExpectStatus(t.Context(), t, "delete", "*:production.v2_"+selector1, "", 200)
	assert.Equal(t, []int64{1, 0}, f.counts(t))
	deletion, err := f.environments.MarkDeleted(t.Context(), "production", nothing)
	assert.OK(t, err)
	// an environment whose deletion has begun does not exist
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"client","environment":"production"}`, 400)
	assert.OK(t, f.environments.Finish(t.Context(), deletion))
}

// An environment is deleted, and another token is created, between the reads of a creation and its transaction.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	nothing := func(environment.Environment) error { return nil }
	create := func(environment string, limit int, before func()) error {
		client := f.Before(t, "TransactWriteItems", 1, before)
		_, _, err := clienttoken.NewStore(client, f.Tables, f.LogThrough(client)).Create(t.Context(),
			clienttokentable.Token{Name: "a", Environment: environment, CreatedAt: now()}, limit, &f.random)
		return err
	}
	err := create("production", 1, func() {
		_, err := f.environments.MarkDeleted(t.Context(), "production", nothing)
		assert.OK(t, err)
	})
	assert.Equal(t, apierror.Validation, apierror.KindOf(err))
	err = create("development", 1, func() { assert.OK(t, create("development", 1, func() {})) })
	assert.Equal(t, apierror.NoAccess, apierror.KindOf(err))
	assert.Equal(t, []int64{1, 0}, f.counts(t))
}

// Use is recorded at any time. A change does not undo it, and does not fail because of it.
func TestChangeKeepsSeenAt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"client"}`, 201)
	table := f.Tables[clienttokentable.Table]
	key := dynamo.Item{clienttokentable.Hash: dynamo.S(selector1)}
	client := f.Before(t, "TransactWriteItems", 1, func() {
		item := f.Get(t, table, key)
		item[clienttokentable.AttributeSeenAt] = dynamo.Time(now())
		f.Put(t, table, item)
	})
	store := clienttoken.NewStore(client, f.Tables, f.LogThrough(client))
	assert.OK(t, store.Update(t.Context(), "*:development.v2_"+selector1, new(now().AddDate(1, 0, 0)), now()))
	token, err := clienttokentable.Unmarshal(f.Get(t, table, key))
	assert.OK(t, err)
	assert.Equal(t, []string{"2026-11-27 05:39:00.123 +0000 UTC", "2027-11-27 05:39:00.123 +0000 UTC"},
		[]string{token.SeenAt.String(), token.ExpiresAt.String()})
}

func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	ada := access.WithPrincipal(t.Context(), access.Principal{ID: "user:1", UserID: 1, Name: "Ada", TokenID: "9",
		Permissions: []access.Permission{access.Admin}})
	f.ExpectStatus(ada, t, "create", "", `{"tokenName":"a","type":"client","project":"shop"}`, 201)
	listed := "shop:development.v2_" + selector1
	f.ExpectStatus(ada, t, "update", listed, `{"expiresAt":"2030-01-01T00:00:00Z"}`, 200)
	f.ExpectStatus(ada, t, "update", listed, `{"expiresAt":"2030-01-01T00:00:00Z"}`, 200) // changes nothing
	f.ExpectStatus(ada, t, "delete", listed, "", 200)
	token := func(expires string) string {
		return `{"id":"` + selector1 + `","tokenName":"a","type":"backend","environment":"development","projects":["shop"],` +
			`"expiresAt":` + expires + `}`
	}
	const by = " client-token:" + selector1 + " by user 1, token 9: "
	first, second := token("null"), token(`"2030-01-01T00:00:00.000Z"`)
	assert.Equal(t, []string{
		"api-token-created" + by + first,
		"api-token-updated" + by + second + " before " + first,
		"api-token-deleted" + by + "before " + second,
	}, database.About(f.Events(t), "client-token:"+selector1))
}

// repair carries out the repairs of a check and returns what they are for.
func repair(t *testing.T, check consistency.Check) (texts []string) {
	t.Helper()
	_, found, err := check(t.Context())
	assert.OK(t, err)
	for _, i := range found {
		texts = append(texts, i.Text)
		assert.OK(t, i.Repair(t.Context()))
	}
	return texts
}

// The check of environments counts tokens, and creates an environment that was lost.
func TestCheckOfEnvironments(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	f.ExpectStatus(t.Context(), t, "create", "", `{"tokenName":"a","type":"client"}`, 201)
	lost := clienttokentable.Token{Selector: access.Selector{9}, Environment: "lost", CreatedAt: now()}
	f.Put(t, f.Tables[clienttokentable.Table], clienttokentable.Marshal(lost))
	table := environment.ReferencesStore(f.Client, f.Tables)
	f.Put(t, f.Tables[environment.Table], table.Item("development", references.Counts{ByProject: references.ByProject{}, Tokens: 3}))
	check := f.environments.Check(f.environments.CountReferences)
	assert.Equal(t, []string{
		`the environment "development" counts client tokens: 3, and is used by client tokens: 1`,
		`the environment "lost", which is used, does not exist`,
	}, repair(t, check))
	assert.Equal(t, []string{`the environment "lost" counts none, and is used by client tokens: 1`}, repair(t, check))
	assert.Equal(t, []string(nil), repair(t, check))
	assert.Equal(t, []int64{1, 0}, f.counts(t))
}

// A token can be revoked even if its environment was lost.
func TestDeleteWithoutEnvironment(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	lost := clienttokentable.Token{Selector: access.Selector{9}, Environment: "lost", CreatedAt: now()}
	f.Put(t, f.Tables[clienttokentable.Table], clienttokentable.Marshal(lost))
	assert.OK(t, f.store.Delete(context.WithoutCancel(t.Context()), lost.Listed()))
	all, err := f.store.List(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 0, len(all))
}

// A token can be created only for projects that exist and that the caller sees.
func TestProjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t, clienttoken.Limits{Tokens: 10})
	f.Set.Projects = f.ProjectReader()
	hidden := access.NewProject("hidden", "Hidden")
	hidden.Mode = access.Private
	f.PutProjects(t, access.NewProject("shop", "Shop"), hidden)
	creator := access.WithPrincipal(t.Context(), access.MemberPrincipal(5, 9, nil,
		map[access.Role][]access.Permission{9: {access.CreateClientToken}}))
	for sent, want := range map[string]string{
		`"project":"shop"`:              "201",
		`"projects":["shop","default"]`: "201",
		`"projects":["*","none"]`:       "201",
		`"project":"none"`:              "400 ValidationError: The `/body/project` property must be * or the id of a project; you sent \"none\".",
		`"projects":["shop","hidden"]`:  "400 ValidationError: The `/body/projects/1` property must be * or the id of a project; you sent \"hidden\".",
		`"projects":["default","SHOP"]`: "400",
	} {
		if got := f.Call(creator, "create", "", `{"tokenName":"a","type":"client",`+sent+`}`); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", sent, got, want)
		}
	}
}

// A token of a private project is hidden from others, and one that has other projects, too, is shown without it.
func TestPrivateProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	f.PutPrivateProject(t)
	created := func(name string, projects ...string) string {
		token, _, err := f.store.Create(t.Context(), clienttokentable.Token{Name: name, Type: clienttokentable.Backend,
			Environment: "production", Projects: projects, CreatedAt: now()}, clienttoken.MaxTokens, &f.random)
		assert.OK(t, err)
		return token.Listed()
	}
	both, hidden := created("both", "default", "secret"), created("hidden", "secret")
	f.Projects = f.ProjectReader()
	viewer := operation.Viewer(t.Context())
	f.Expect(viewer, t, "list", "", "", `200 {"tokens":[`+shown(both, "both",
		`"type":"client","project":"default","projects":["default"],"environment":"production","expiresAt":null`)+`]}`)
	const unknown = "404 NotFoundError: There is no such client token."
	f.Expect(viewer, t, "update", hidden, `{"expiresAt":"2027-01-01T00:00:00Z"}`, unknown)
	f.Expect(viewer, t, "delete", hidden, "", unknown)
	f.Expect(viewer, t, "delete", both, "", "200")
}

// A token cannot be created for a project that is archived, also if it is archived between the check and the write.
func TestArchivedProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	archived := access.NewProject("old", "Old")
	archived.ArchivedAt = new(now())
	f.PutProjects(t, access.NewProject("shop", "Shop"), access.NewProject("old", "Old"))
	client := f.Before(t, "TransactWriteItems", 1, func() { f.PutProjects(t, archived) })
	store := clienttoken.NewStore(client, f.Tables, f.LogThrough(client))
	_, _, err := store.Create(t.Context(), clienttokentable.Token{Name: "a", Environment: "production",
		Projects: []string{"shop", "old"}, CreatedAt: now()}, clienttoken.MaxTokens, &f.random)
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
	assert.Equal(t, `The project "old" is archived. Revive it first.`, apierror.From(err).Message)
	f.Expect(t.Context(), t, "create", "", `{"tokenName":"a","type":"client","projects":["shop","gone"]}`,
		"400 ValidationError: The `/body/projects/1` property must be * or the id of a project; you sent \"gone\".")
}
