package rights_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/rights"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC) }

const maxDays = 30

// fixture has the environments dev and prod, the custom role 7 (UPDATE_FEATURE_ENVIRONMENT in prod), the Viewer 1, the
// service account 2, the group 3 with the root role Editor, whose mapping is team, the private project secret, in which
// the Viewer has the role 7 and the group the role Reader, and the project owned, whose Owners are both accounts.
type fixture struct {
	*database.Database
	operation.Set
	users  *user.Store
	access *accesstable.Reader
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	db := database.New(t)
	f := fixture{
		Database: db,
		users:    user.NewStore(db.Client, db.Tables, db.Log()),
		access:   accesstable.NewReader(db.Client, db.Tables),
	}
	store := rights.NewStore(db.Client, db.Tables, now, maxDays)
	f.Set = operation.Set{Projects: f.access, Parameters: []string{"id"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"person":  rights.Overview(store, user.Person),
		"account": rights.Overview(store, user.ServiceAccount),
		"own":     rights.OwnRoles(store),
	}}
	for _, name := range []string{"dev", "prod"} {
		_, err := environment.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(),
			environment.Environment{Name: name, Type: name})
		assert.OK(t, err)
	}
	for _, u := range []user.User{
		{Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: access.RoleViewer},
		{Kind: user.ServiceAccount, Name: "CI", Username: "ci", Role: access.RoleEditor},
	} {
		_, err := f.users.Add(t.Context(), u, user.DefaultLimit)
		assert.OK(t, err)
	}
	_, err := role.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(), access.RoleDefinition{Name: "Releaser",
		Type: access.CustomType, Permissions: []access.RolePermission{{Permission: access.UpdateEnvironment, Environment: "prod"}}})
	assert.OK(t, err)
	directory, err := f.access.Directory(t.Context())
	assert.OK(t, err)
	directory.Groups[3] = accesstable.GroupEntry{RootRole: access.RoleEditor, Mappings: []string{"team"}}
	_, err = dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{directory.Put(db.Tables[accesstable.Table])})
	assert.OK(t, err)
	secret := access.NewProject("secret", "secret")
	secret.Mode = access.Private
	secret.Users, secret.Groups = map[int64][]access.Role{1: {7}}, map[int64][]access.Role{3: {access.RoleReader}}
	f.Put(t, db.Tables[accesstable.Table], accesstable.MarshalProject(secret))
	owned := access.NewProject("owned", "owned")
	owned.Users = map[int64][]access.Role{1: {access.RoleOwner}, 2: {access.RoleOwner}}
	f.Put(t, db.Tables[accesstable.Table], accesstable.MarshalProject(owned))
	return f
}

// as returns an account.
func as(id int64, groups ...int64) access.Principal {
	p := access.Principal{ID: fmt.Sprint("user:", id), UserID: id, Groups: groups}
	if id == 9 {
		p.Permissions = []access.Permission{access.Admin}
	}
	return p
}

// get returns the response to a request of an account.
func (f fixture) get(t *testing.T, p access.Principal, operationName, id, query string) string {
	t.Helper()
	ctx := access.WithProjects(access.WithPrincipal(t.Context(), p), f.access)
	status, _, text := f.Serve(ctx, operation.Request{Operation: operationName, Path: id, Query: query})
	return fmt.Sprint(status, " ", text)
}

func TestOverview(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	admin := as(9)
	for _, test := range []struct {
		caller               access.Principal
		operation, id, query string
		want                 []string // parts of the response
	}{
		{admin, "person", "1", "", []string{`200 {"overview":{"root":[{"id":1,"name":"ADMIN","displayName":"Admin","type":"root",` +
			`"hasPermission":false}`, `"project":[],"environment":[]},"user":{"id":1,"name":"Ada"`,
			`"rootRole":{"id":3,"name":"Viewer","type":"root"`, `"projectRoles":[]}`}},
		{as(1), "person", "1", "project=secret&environment=prod", []string{
			`"type":"environment","environment":"prod","hasPermission":true}`,
			`"projectRoles":[{"id":7,"name":"Releaser","type":"custom","description":"","project":"secret","permissions":[{"id":28,`,
		}},
		{admin, "person", "1", "project=secret&environment=dev", []string{
			`"name":"UPDATE_FEATURE_ENVIRONMENT","displayName":"Turn toggles on and off","type":"environment","environment":"dev",` +
				`"hasPermission":false}`}},
		{admin, "account", "2", "project=default", []string{
			`"name":"CREATE_FEATURE","displayName":"Create toggles","type":"project","hasPermission":true}`,
			`"name":"UPDATE_PROJECT","displayName":"Update the project","type":"project","hasPermission":false}`,
			`"environment":[]`}},
		{admin, "account", "2", "project=secret", []string{
			`"name":"CREATE_FEATURE","displayName":"Create toggles","type":"project","hasPermission":false}`}},
		// The service account is an Owner there, and does not approve.
		{admin, "account", "2", "project=owned&environment=prod", []string{
			`"name":"APPROVE_CHANGE_REQUEST","displayName":"Approve and reject change requests","type":"environment",` +
				`"environment":"prod","hasPermission":false}`,
			`"name":"APPLY_CHANGE_REQUEST","displayName":"Apply change requests","type":"environment","environment":"prod",` +
				`"hasPermission":true}`}},
		{admin, "person", "1", "project=owned&environment=prod", []string{
			`"name":"APPROVE_CHANGE_REQUEST","displayName":"Approve and reject change requests","type":"environment",` +
				`"environment":"prod","hasPermission":true}`}},
		{as(2), "account", "2", "project=secret", []string{`404 NotFoundError: There is no project with the id "secret".`}},
		{as(2), "person", "1", "", []string{`403 NoAccessError: You need the "ADMIN" permission to perform this operation.`}},
		{as(2), "person", "x", "", []string{`403 NoAccessError: You need the "ADMIN" permission to perform this operation.`}},
		{admin, "person", "2", "", []string{`404 NotFoundError: There is no person with the id "2".`}},
		{admin, "account", "1", "", []string{`404 NotFoundError: There is no service account with the id "1".`}},
		{admin, "person", "1", "environment=prod", []string{"400 ValidationError: The `/query/project` property is required"}},
		{admin, "person", "1", "project=default&environment=prdo", []string{`404 NotFoundError: There is no environment`}},
	} {
		got := f.get(t, test.caller, test.operation, test.id, test.query)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s %s?%s: %s is missing in %s", test.operation, test.id, test.query, want, got)
			}
		}
	}
}

// What the last ID token said about groups counts for some days.
func TestGroupsOfIDToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	isEditor := func() bool {
		return strings.Contains(f.get(t, as(9), "person", "1", ""),
			`"name":"CREATE_PROJECT","displayName":"Create projects","type":"root","hasPermission":true}`)
	}
	for _, test := range []struct {
		age  time.Duration
		want bool
	}{{maxDays * 24 * time.Hour, false}, {maxDays*24*time.Hour - time.Second, true}, {0, true}} {
		u, err := f.users.Get(t.Context(), 1)
		assert.OK(t, err)
		u.Claim = nil
		assert.OK(t, f.users.SetClaim(t.Context(), u, []string{"team"}, now().Add(-test.age)))
		assert.Equal(t, test.want, isEditor())
	}
}

func TestOwnRoles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const (
		viewer   = `{"id":3,"name":"Viewer","type":"root"`
		editor   = `{"id":2,"name":"Editor","type":"root"`
		releaser = `{"id":7,"name":"Releaser","type":"custom","description":"","project":"secret"}`
		reader   = `{"id":6,"name":"Reader","type":"project"`
	)
	for _, test := range []struct {
		caller access.Principal
		query  string
		want   []string // parts of the response
		not    string   // a part that is absent
	}{
		{as(1), "", []string{`200 {"version":1,"roles":[` + viewer, releaser}, editor},
		{as(1, 3), "", []string{editor, viewer, releaser, reader}, "Admin"},
		{as(1, 3), "projectId=secret", []string{`200 {"version":1,"roles":[` + reader, releaser}, viewer},
		{as(2), "projectId=secret", []string{`404 NotFoundError: There is no project with the id "secret".`}, "roles"},
	} {
		got := f.get(t, test.caller, "own", "", test.query)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("?%s: %s is missing in %s", test.query, want, got)
			}
		}
		if strings.Contains(got, test.not) {
			t.Errorf("?%s: %s is in %s", test.query, test.not, got)
		}
	}
}
