package user_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
)

func TestGetOwn(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	old := access.NewProject("old", "Old")
	old.ArchivedAt = new(time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC))
	hidden, shop := access.NewProject("hidden", "Hidden"), access.NewProject("shop", "Shop")
	hidden.Mode, shop.Mode = access.Private, access.Private
	shop.Users = map[int64][]access.Role{3: {9}}
	db.PutProjects(t, old, hidden, shop)
	db.Put(t, db.Tables[accesstable.Table], accesstable.MarshalRole(access.RoleDefinition{ID: 9, Type: access.CustomType,
		Permissions: []access.RolePermission{
			{Permission: access.UpdateFeature},
			{Permission: access.UpdateEnvironment, Environment: "staging"},
		}}))
	add(t, store, person("ada", "ada@example.com"), person("Bob", ""), serviceAccount("ci"), serviceAccount("deleted"))
	assert.OK(t, failure(store.BeginDeletion(t.Context(), user.ServiceAccount, 4, nil)))
	set := operation.Set{Projects: db.ProjectReader(), Handlers: map[string]lambdahttp.HandlerFunc{"get": user.GetOwn(store)}}
	get := func(ctx context.Context, id int64, role access.Role) string {
		return set.Call(access.WithPrincipal(ctx, access.UserPrincipal(id, role)), "get", "", "")
	}
	const unauthorized = "401 AuthenticationRequired: You need a valid credential in the Authorization header."
	for _, test := range []struct {
		caller int64
		role   access.Role // of the request: the role of an account can change after the request was authorized
		want   string
	}{
		{
			1, access.RoleViewer,
			`200 {"user":{"id":1,"name":"ada","email":"ada@example.com","rootRole":2,"isAPI":false,"accountType":"User"},"permissions":[]}`,
		},
		{
			2, access.RoleAdmin,
			`200 {"user":{"id":2,"name":"Bob","rootRole":2,"isAPI":false,"accountType":"User"},"permissions":[{"permission":"ADMIN"}]}`,
		},
		{
			3, access.RoleEditor,
			`200 {"user":{"id":3,"name":"ci","username":"ci","rootRole":2,"isAPI":false,"accountType":"Service Account"},"permissions":[` +
				`{"permission":"CREATE_CONTEXT_FIELD"},{"permission":"UPDATE_CONTEXT_FIELD"},` +
				`{"permission":"DELETE_CONTEXT_FIELD"},{"permission":"CREATE_SEGMENT"},{"permission":"UPDATE_SEGMENT"},` +
				`{"permission":"DELETE_SEGMENT"},{"permission":"READ_CLIENT_API_TOKEN"},{"permission":"CREATE_PROJECT"},` +
				`{"permission":"READ_ROLE"},{"permission":"CREATE_TAG_TYPE"},{"permission":"UPDATE_TAG_TYPE"},` +
				`{"permission":"DELETE_TAG_TYPE"},` +
				`{"permission":"CREATE_FEATURE","project":"*"},{"permission":"UPDATE_FEATURE","project":"*"},` +
				`{"permission":"DELETE_FEATURE","project":"*"},` +
				`{"permission":"CREATE_FEATURE_STRATEGY","project":"*","environment":"*"},` +
				`{"permission":"UPDATE_FEATURE_STRATEGY","project":"*","environment":"*"},` +
				`{"permission":"DELETE_FEATURE_STRATEGY","project":"*","environment":"*"},` +
				`{"permission":"UPDATE_FEATURE_ENVIRONMENT","project":"*","environment":"*"},` +
				`{"permission":"UPDATE_FEATURE_VARIANTS","project":"*"},{"permission":"MOVE_FEATURE_TOGGLE","project":"*"},` +
				`{"permission":"APPLY_CHANGE_REQUEST","project":"*","environment":"*"},` +
				`{"permission":"UPDATE_FEATURE_ENVIRONMENT_VARIANTS","project":"*","environment":"*"},` +
				`{"permission":"READ_PROJECT_API_TOKEN","project":"*"},{"permission":"CREATE_PROJECT_API_TOKEN","project":"*"},` +
				`{"permission":"DELETE_PROJECT_API_TOKEN","project":"*"},{"permission":"UPDATE_FEATURE_DEPENDENCY","project":"*"},` +
				`{"permission":"NONE","project":"shop"},{"permission":"UPDATE_FEATURE","project":"shop"},` +
				`{"permission":"UPDATE_FEATURE_ENVIRONMENT","project":"shop","environment":"staging"}]}`,
		},
		{4, access.RoleEditor, unauthorized},
		{5, access.RoleAdmin, unauthorized},
	} {
		assert.Equal(t, test.want, get(t.Context(), test.caller, test.role))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := get(ctx, 1, access.RoleAdmin); !strings.HasPrefix(got, "503 ServiceUnavailable: ") {
		t.Error(got)
	}
}

// The list has what holds in several projects once, and the differences of the others. It has archived projects, too.
func TestPermissionsInProjects(t *testing.T) {
	t.Parallel()
	protected := func(p *access.Project) { p.Mode = access.Protected }
	giving := func(roles ...access.Role) func(*access.Project) {
		return func(p *access.Project) {
			p.Mode = access.Protected
			p.Users = map[int64][]access.Role{1: roles}
		}
	}
	for _, test := range []struct {
		name     string
		projects map[string]func(*access.Project)
		counts   map[string]int  // of elements by project
		may      map[string]bool // in projects, whether CREATE_FEATURE counts
	}{
		{
			"open", nil, map[string]int{"*": 15}, map[string]bool{"p0": true, "default": true},
		},
		{
			"one protected", map[string]func(*access.Project){"p0": protected},
			map[string]int{"*": 15, "p0": 1}, map[string]bool{"p0": false, "p1": true},
		},
		{
			"Member of most", map[string]func(*access.Project){
				"p0": giving(access.RoleMember), "p1": giving(access.RoleMember), "p2": giving(access.RoleMember)},
			map[string]int{"*": 14, "default": 1, "p3": 1}, map[string]bool{"p0": true, "p3": true},
		},
		{
			"Owner of one", map[string]func(*access.Project){"p0": giving(access.RoleOwner)},
			map[string]int{"*": 15, "p0": 11}, map[string]bool{"p0": true},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store, db := newStore(t)
			add(t, store, person("ada", "ada@example.com"))
			for _, id := range []string{"p0", "p1", "p2", "p3"} {
				p := access.NewProject(id, id)
				if change := test.projects[id]; change != nil {
					change(&p)
				}
				if id == "p2" {
					p.ArchivedAt = new(time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC))
				}
				db.PutProjects(t, p)
			}
			set := operation.Set{Projects: db.ProjectReader(), Handlers: map[string]lambdahttp.HandlerFunc{"get": user.GetOwn(store)}}
			ctx := access.WithPrincipal(t.Context(), access.UserPrincipal(1, access.RoleEditor))
			var body struct {
				Permissions []struct{ Permission, Project string }
			}
			assert.OK(t, json.Unmarshal([]byte(strings.TrimPrefix(set.Call(ctx, "get", "", ""), "200 ")), &body))
			counts, held := map[string]int{}, map[string][]string{}
			for _, p := range body.Permissions {
				if p.Project != "" {
					counts[p.Project]++
					held[p.Project] = append(held[p.Project], p.Permission)
				}
			}
			assert.Equal(t, test.counts, counts)
			for id, want := range test.may {
				may := slices.Contains(held[id], "CREATE_FEATURE") ||
					!slices.Contains(held[id], "NONE") && slices.Contains(held["*"], "CREATE_FEATURE")
				assert.Equal(t, want, may)
			}
		})
	}
}
