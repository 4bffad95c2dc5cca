package person_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/person"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_987_654, time.UTC) }

// fixture has the Admin 1, the service account 2 and the custom root role 7.
type fixture struct {
	*database.Database
	operation.Set
	users *user.Store
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	db := database.New(t)
	f := fixture{Database: db, users: user.NewStore(db.Client, db.Tables, db.Log())}
	roles := role.NewStore(db.Client, db.Tables, db.Log())
	f.Set = operation.Set{Parameters: []string{"id"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"list":     person.List(f.users, roles, accesstable.NewReader(db.Client, db.Tables), now, 30),
		"get":      person.Get(f.users),
		"search":   person.Search(f.users),
		"create":   person.Create(f.users, roles, now),
		"update":   person.Update(f.users, roles),
		"disabled": person.SetDisabled(f.users),
		"delete":   person.Delete(f.users, pat.NewStore(db.Client, db.Tables, db.Log(), rand.Reader)),
	}}
	for _, u := range []user.User{
		{Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: access.RoleAdmin},
		{Kind: user.ServiceAccount, Name: "CI", Username: "ci", Role: access.RoleViewer},
	} {
		_, err := f.users.Add(t.Context(), u, user.DefaultLimit)
		assert.OK(t, err)
	}
	_, err := roles.Create(t.Context(), access.RoleDefinition{Name: "Planner", Type: access.RootCustomType})
	assert.OK(t, err)
	return f
}

const (
	shownAda = `"id":1,"name":"Ada","email":"ada@example.com","rootRole":1,"accountType":"User"`
	shownBen = `"id":3,"name":"Ben","username":"ben","email":"ben@example.com","rootRole":7,"accountType":"User",` +
		`"createdAt":"2026-11-20T05:39:00.123Z"`
	lastAdmin = "409 ConflictError: The person is the last enabled Admin. Make another person Admin first."
	taken     = "409 NameExistsError: There is already a person with this e-mail address."
	noRole    = "400 ValidationError: The `/body/rootRole` property must be the id or the name of a root role; you sent "
)

func TestOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	missing := func(id string) string {
		return fmt.Sprintf("404 NotFoundError: There is no person with the id %q.", id)
	}
	for _, call := range []struct{ operation, id, body, want string }{
		{"create", "", `{"email":"BEN@example.com","name":"Ben","username":"ben","rootRole":7,"password":"x","sendEmail":true}`,
			"201 {" + shownBen + `,"inviteLink":"https://example.com/dev/console/","emailSent":false}`},
		{"create", "", `{"email":"ben@example.com","rootRole":"Viewer"}`, taken},
		{"create", "", `{"email":"x@example.com","username":"CI","rootRole":3}`,
			"409 NameExistsError: There is already an account with this username."},
		{"create", "", `{"email":"x@example.com","rootRole":4}`, noRole + "4."},
		{"create", "", `{"email":"x@example.com","rootRole":"Owner"}`, noRole + `"Owner".`},
		{"create", "", `{"email":"x","rootRole":3}`, "400 ValidationError: The `/body/email` property must be an e-mail address, " +
			`such as ada@example.com; you sent "x".`},
		{"get", "3", "", "200 {" + shownBen + "}"},
		{"get", "1", "", "200 {" + shownAda + "}"},

		{"update", "3", `{"rootRole":"Planner"}`, "200 {" + shownBen + "}"},
		{"update", "3", `{"email":"ada@example.com"}`, taken},
		{"update", "3", `{"name":"Benno","email":"benno@example.com","rootRole":"Editor"}`, `200 {"id":3,"name":"Benno",` +
			`"username":"ben","email":"benno@example.com","rootRole":2,"accountType":"User","createdAt":"2026-11-20T05:39:00.123Z"}`},
		{"update", "1", `{"rootRole":2}`, lastAdmin},
		{"disabled", "1", `{"disabled":true}`, lastAdmin},
		{"delete", "1", "", lastAdmin},
		{"disabled", "3", `{"disabled":true}`, `200 {"disabled":true}`},
		{"disabled", "3", `{"disabled":false}`, `200 {"disabled":false}`},

		{"delete", "3", "", "200"},
		{"delete", "3", "", missing("3")},
		{"get", "3", "", missing("3")},
		{"get", "2", "", missing("2")}, // a service account
		{"update", "2", `{"name":"x"}`, missing("2")},
		{"disabled", "2", `{"disabled":true}`, missing("2")},
		{"delete", "2", "", missing("2")},
		{"get", "x", "", missing("x")},
	} {
		f.Expect(t.Context(), t, call.operation, call.id, call.body, call.want)
	}
	got := f.Call(t.Context(), "list", "", "")
	f.ExpectQuery(t.Context(), t, "list", "ids=1,2,77", got) // 2 is a service account
	f.ExpectQuery(t.Context(), t, "list", "ids=2", strings.Replace(got, "{"+shownAda+`,"disabled":false,"groups":[]}`, "", 1))
	f.ExpectQuery(t.Context(), t, "list", "ids=x",
		"400 ValidationError: The `/query/ids` parameter must be ids of people, separated by commas; you sent \"x\".")
	if !strings.HasPrefix(got, `200 {"users":[{`+shownAda+`,"disabled":false,"groups":[]}],"rootRoles":[{"id":1,`) ||
		!strings.HasSuffix(got, `{"id":7,"name":"Planner","type":"root-custom","description":""}]}`) {
		t.Error(got)
	}
}

// The list has the groups of each person, also those by the last ID token, without those that do not exist.
func TestGroupsInList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	groups := group.NewStore(f.Client, f.Tables, f.Log())
	payments, err := groups.Create(t.Context(), accesstable.Group{Name: "Payments", Members: []int64{1, 2}})
	assert.OK(t, err)
	platform, err := groups.Create(t.Context(), accesstable.Group{Name: "Platform", Mappings: []string{"platform"}})
	assert.OK(t, err)
	listed := func(claimed time.Time) string {
		ada, err := f.users.Get(t.Context(), 1)
		assert.OK(t, err)
		ada.Claim = nil
		assert.OK(t, f.users.SetClaim(t.Context(), ada, []string{"platform"}, claimed))
		found, _, _ := strings.Cut(f.Call(t.Context(), "list", "", ""), "}")
		return found
	}
	const shown = `200 {"users":[{` + shownAda + `,"disabled":false,"groups":`
	assert.Equal(t, fmt.Sprintf("%s[%d]", shown, payments.ID), listed(now().AddDate(0, 0, -31)))
	assert.Equal(t, fmt.Sprintf("%s[%d,%d]", shown, payments.ID, platform.ID), listed(now()))
	assert.OK(t, groups.Delete(t.Context(), payments.ID, func(accesstable.Group) error { return nil }))
	assert.Equal(t, fmt.Sprintf("%s[%d]", shown, platform.ID), listed(now()))
}

func TestSearch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const ci = `{"id":2,"name":"CI","username":"ci","rootRole":3,"accountType":"Service Account"}`
	for query, want := range map[string]string{
		"":              "[]",
		"q=a":           "[]",
		"q=ADA":         "[{" + shownAda + "}]",
		"q=example.com": "[{" + shownAda + "}]",
		"q=ci":          "[" + ci + "]",
		"q=zz":          "[]",
	} {
		f.ExpectQuery(t.Context(), t, "search", query, "200 "+want)
	}
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "", `{"email":"ben@example.com","rootRole":1}`, 201)
	_, header, _ := f.Serve(t.Context(), operation.Request{Operation: "get", Path: "3"})
	f.ExpectStatus(t.Context(), t, "disabled", "3", `{"disabled":true}`, 200)
	old := f.With("If-Match", header.Get("ETag"))
	old.ExpectStatus(t.Context(), t, "update", "3", `{"name":"b"}`, 412)
	old.ExpectStatus(t.Context(), t, "disabled", "3", `{"disabled":false}`, 412)
	old.ExpectStatus(t.Context(), t, "delete", "3", "", 412)
	_, header, _ = f.Serve(t.Context(), operation.Request{Operation: "get", Path: "3"})
	f.With("If-Match", header.Get("ETag")).ExpectStatus(t.Context(), t, "delete", "3", "", 200)
}
