package feature_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// part returns what a response has between two texts.
func part(response, from, to string) string {
	_, rest, _ := strings.Cut(response, from)
	value, _, _ := strings.Cut(rest, to)
	return value
}

// A toggle is owned by the person who creates it, unless the request names another owner. Names are current.
func TestOwner(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	h := toggles.Handlers(db.Store)
	h.Handlers["update all"] = feature.UpdateAll(db.Store)
	users := user.NewStore(db.Client, db.Tables, eventlog.Discard(db.Client, time.Now))
	assert.OK(t,
		users.Create(t.Context(), user.User{ID: 7, Kind: user.Person, Name: "Ada", Role: access.RoleEditor}),
		users.Create(t.Context(), user.User{ID: 8, Kind: user.ServiceAccount, Username: "ci", Role: access.RoleEditor}))
	groups := group.NewStore(db.Client, db.Tables, db.Log())
	team, err := groups.Create(t.Context(), accesstable.Group{Name: "Checkout"})
	assert.OK(t, err)
	as := func(p access.Principal) func(name, owner string) string {
		p.ID, p.Permissions = "user", []access.Permission{access.Admin}
		ctx := access.WithPrincipal(t.Context(), p)
		return func(name, owner string) string {
			response := h.Call(ctx, "create", "p/", `{"name":"`+name+`"`+owner+`}`)
			return part(response, `"owner":`, `,"keepUntil"`)
		}
	}
	person, account := as(access.Principal{UserID: 7, Name: "Ada"}), as(access.Principal{UserID: 8, Name: "ci", IsServiceAccount: true})
	assert.Equal(t, `{"kind":"user","id":7,"name":"Ada"}`, person("a", ""))
	assert.Equal(t, "null", account("b", ""))
	assert.Equal(t, "null", person("c", `,"owner":null`))
	assert.Equal(t, `{"kind":"text","name":"Team X"}`, account("d", `,"owner":{"kind":"text","name":"Team X"}`))
	assert.Equal(t, `{"kind":"group","id":1,"name":"Checkout"}`, account("e", `,"owner":{"kind":"group","id":1,"name":"other"}`))

	owner := func(name string) string {
		return part(h.Call(t.Context(), "get", "p/"+name, ""), `"owner":`, `,"keepUntil"`)
	}
	h.ExpectStatus(t.Context(), t, "update all", "p/", `{"features":["a","b"],"owner":{"kind":"group","id":1}}`, 200)
	h.ExpectStatus(t.Context(), t, "update", "p/b", `{"owner":{"kind":"user","id":7}}`, 200)
	assert.OK(t, groups.Delete(t.Context(), team.ID, func(accesstable.Group) error { return nil }))
	assert.Equal(t, `{"kind":"group","id":1,"name":"deleted group 1"}`, owner("a"))
	db.Delete(t, db.Tables["Users"], user.Key(7))
	assert.Equal(t, `{"kind":"user","id":7,"name":"deleted user 7"}`, owner("b"))

	const invalid = "400 ValidationError: The `/body/owner"
	toggles.Expect(t.Context(), t, h, []toggles.Call{
		{"update", "p/a", `{"owner":{"kind":"user","id":8}}`, invalid + "/id` property must be the id of a person; you sent 8."},
		{"update", "p/a", `{"owner":{"kind":"group","id":9}}`, invalid + "/id` property must be the id of a group; you sent 9."},
		{"update", "p/a", `{"owner":{"kind":"user"}}`, invalid + "/id` property must be the id of a user; you did not send it."},
		{
			"update all", "p/", `{"features":["a"],"owner":{"kind":"text","name":" a"}}`,
			invalid + "/name` property must have no control characters, and no white space at its start and end; you sent \" a\".",
		},
		{"update all", "p/", `{"features":["a","x"],"owner":null}`, toggles.UnknownIn("p", "x")},
	})
	// What was read can be sent again, although the owner is deleted.
	h.ExpectStatus(t.Context(), t, "update", "p/b", `{"owner":`+owner("b")+`}`, 200)
	h.ExpectStatus(t.Context(), t, "update", "p/b", `{"owner":null}`, 200)
	assert.Equal(t, "null", owner("b"))
}

// A toggle is kept until a date in the future, with a reason.
func TestKeep(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	h := toggles.Handlers(db.Store)
	db.Create(t, `{"name":"a","project":"p"}`)
	keep := func() string {
		return part(h.Call(t.Context(), "get", "p/a", ""), `"keepUntil":`, `,"archivedAt"`)
	}
	const until = "400 ValidationError: The `/body/keepUntil` property must be "
	const alone = "400 ValidationError: The `/body/keepReason` property must be null without `keepUntil`; you sent \"Sale\"."
	for _, step := range []struct{ body, want, keeps string }{
		{`{"keepReason":"Sale"}`, alone, `null,"keepReason":null`},
		{`{"keepUntil":"2027-02-30"}`, until + `a date such as 2027-01-31; you sent "2027-02-30".`, `null,"keepReason":null`},
		{`{"keepUntil":"2027-01-31T00:00:00Z"}`, until + `a date such as 2027-01-31; you sent "2027-01-31T00:00:00Z".`, `null,"keepReason":null`},
		{`{"keepUntil":""}`, until + `a date such as 2027-01-31; you sent "".`, `null,"keepReason":null`},
		{`{"keepUntil":"2026-12-30"}`, until + `after today, 2026-12-30; you sent "2026-12-30".`, `null,"keepReason":null`},
		{`{"keepUntil":"2026-12-31","keepReason":"Sale"}`, "200", `"2026-12-31","keepReason":"Sale"`},
		{`{"keepUntil":"2027-01-31"}`, "200", `"2027-01-31","keepReason":"Sale"`},
		{`{"keepReason":null}`, "200", `"2027-01-31","keepReason":null`},
		{`{"keepUntil":null,"keepReason":"Sale"}`, alone, `"2027-01-31","keepReason":null`},
		{`{"keepReason":"Sale"}`, "200", `"2027-01-31","keepReason":"Sale"`},
		{`{"keepUntil":null}`, "200", `null,"keepReason":null`},
	} {
		got := h.Call(t.Context(), "update", "p/a", step.body)
		if got != step.want && (step.want != "200" || !strings.HasPrefix(got, "200 ")) {
			t.Errorf("%s: %s, not %s", step.body, got, step.want)
		}
		assert.Equal(t, step.keeps, keep())
	}
	db.Update(t, "a", `{"Keep":{"Until":"2026-01-31T00:00:00Z"}}`)
	h.ExpectStatus(t.Context(), t, "update", "p/a", `{"keepUntil":"2026-01-31"}`, 200) // as it was read
}

// A new toggle has the links of its project.
func TestLinksOfTheProject(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	h := toggles.Handlers(db.Store)
	p := access.NewProject("linked", "Linked")
	p.LinkTemplates = []access.LinkTemplate{{URLTemplate: "https://example.com/{{project}}/{{feature}}", Title: new("T")}}
	db.PutProjects(t, p)
	h.Projects = db.ProjectReader()
	_, _, text := h.Serve(t.Context(), operation.Request{Operation: "create", Path: "linked/", Body: `{"name":"a"}`})
	assert.Equal(t, `[{"id":"link","url":"https://example.com/linked/a","title":"T"}]}`, part(text, `"links":`, "\n"))
}
