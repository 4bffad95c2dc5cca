package user_test

import (
	"context"
	"strings"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
)

func TestGetOwn(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	add(t, store, person("ada", "ada@example.com"), person("Bob", ""), serviceAccount("ci"), serviceAccount("deleted"))
	assert.OK(t, store.BeginDeletion(t.Context(), user.ServiceAccount, 4, false))
	set := operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{"get": user.GetOwn(store)}}
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
				`{"permission":"DELETE_CONTEXT_FIELD"},{"permission":"CREATE_FEATURE"},{"permission":"UPDATE_FEATURE"},` +
				`{"permission":"DELETE_FEATURE"},{"permission":"CREATE_SEGMENT"},{"permission":"UPDATE_SEGMENT"},` +
				`{"permission":"DELETE_SEGMENT"},{"permission":"UPDATE_FEATURE_ENVIRONMENT"},` +
				`{"permission":"CREATE_FEATURE_STRATEGY"},{"permission":"UPDATE_FEATURE_STRATEGY"},` +
				`{"permission":"DELETE_FEATURE_STRATEGY"},{"permission":"UPDATE_FEATURE_DEPENDENCY"},{"permission":"READ_CLIENT_API_TOKEN"},{"permission":"CREATE_PROJECT"},{"permission":"READ_ROLE"}]}`,
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
