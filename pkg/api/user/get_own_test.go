package user_test

import (
	"context"
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
			`200 {"user":{"id":1,"name":"ada","email":"ada@example.com","rootRole":2,"isAPI":false},"permissions":[]}`,
		},
		{
			2, access.RoleAdmin,
			`200 {"user":{"id":2,"name":"Bob","rootRole":2,"isAPI":false},"permissions":[{"permission":"ADMIN"}]}`,
		},
		{
			3, access.RoleEditor,
			`200 {"user":{"id":3,"name":"ci","username":"ci","rootRole":2,"isAPI":false},"permissions":[` +
				`{"permission":"CREATE_CONTEXT_FIELD"},{"permission":"UPDATE_CONTEXT_FIELD"},` +
				`{"permission":"DELETE_CONTEXT_FIELD"},{"permission":"CREATE_SEGMENT"},{"permission":"UPDATE_SEGMENT"},` +
				`{"permission":"DELETE_SEGMENT"},{"permission":"READ_CLIENT_API_TOKEN"},{"permission":"CREATE_PROJECT"},` +
				`{"permission":"READ_ROLE"},` +
				`{"permission":"UPDATE_FEATURE","project":"*"},{"permission":"CREATE_FEATURE","project":"default"},` +
				`{"permission":"DELETE_FEATURE","project":"default"},` +
				`{"permission":"CREATE_FEATURE_STRATEGY","project":"default","environment":"*"},` +
				`{"permission":"UPDATE_FEATURE_STRATEGY","project":"default","environment":"*"},` +
				`{"permission":"DELETE_FEATURE_STRATEGY","project":"default","environment":"*"},` +
				`{"permission":"UPDATE_FEATURE_ENVIRONMENT","project":"default","environment":"*"},` +
				`{"permission":"UPDATE_FEATURE_VARIANTS","project":"default"},` +
				`{"permission":"MOVE_FEATURE_TOGGLE","project":"default"},` +
				`{"permission":"APPLY_CHANGE_REQUEST","project":"default","environment":"*"},` +
				`{"permission":"UPDATE_FEATURE_ENVIRONMENT_VARIANTS","project":"default","environment":"*"},` +
				`{"permission":"READ_PROJECT_API_TOKEN","project":"default"},` +
				`{"permission":"CREATE_PROJECT_API_TOKEN","project":"default"},` +
				`{"permission":"DELETE_PROJECT_API_TOKEN","project":"default"},` +
				`{"permission":"UPDATE_FEATURE_DEPENDENCY","project":"default"},` +
				`{"permission":"UPDATE_FEATURE_ENVIRONMENT","project":"shop","environment":"staging"}]}`,
		},
		{4, access.RoleEditor, unauthorized},
		{5, access.RoleAdmin, unauthorized},
	} {
		assert.Equal(t, test.want, get(t.Context(), test.caller, test.role))
	}
	// What the caller may do in all projects is listed once.
	db.PutProjects(t, access.NewProject("blog", "Blog"))
	shop.Users[2] = []access.Role{access.RoleMember}
	hidden.Mode = access.Protected
	hidden.Users = map[int64][]access.Role{2: {access.RoleOwner}}
	db.PutProjects(t, shop, hidden)
	_, inProjects, _ := strings.Cut(get(t.Context(), 2, access.RoleEditor), `{"permission":"READ_ROLE"},`)
	for _, want := range []string{
		`{"permission":"CREATE_FEATURE","project":"*"},`, // by the root role, and by the roles Owner and Member
		`{"permission":"UPDATE_FEATURE_ENVIRONMENT","project":"*","environment":"*"},`,
		`{"permission":"MOVE_FEATURE_TOGGLE","project":"blog"},{"permission":"MOVE_FEATURE_TOGGLE","project":"default"},` +
			`{"permission":"UPDATE_PROJECT","project":"hidden"},`,
	} {
		if !strings.Contains(inProjects, want) {
			t.Errorf("%s does not contain %s", inProjects, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := get(ctx, 1, access.RoleAdmin); !strings.HasPrefix(got, "503 ServiceUnavailable: ") {
		t.Error(got)
	}
}
