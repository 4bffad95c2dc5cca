package user_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/operation"
	"toggleadmin/test/table"
)

func TestGetOwn(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	calls(t, store, ada+`
		person | Bob | | 2 Bob <> Editor
		service-account | ci | | 3 ci <> Editor
		service-account | deleted | | 4 deleted <> Editor
	`)
	assert.OK(t, store.BeginDeletion(t.Context(), user.ServiceAccount, 4))
	set := operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{"get": user.GetOwn(store)}}
	get := func(ctx context.Context, id, role, want string) {
		n, err := strconv.ParseInt(id, 10, 64)
		assert.OK(t, err)
		set.Want(access.WithPrincipal(ctx, access.UserPrincipal(n, access.Role(role))), t,
			operation.Request{Operation: "get"}, want)
	}
	for _, row := range table.Rows(t, 3, strings.ReplaceAll(`
		# caller | role of the request: an account's role can change after the request was authorized | response
		1 | Viewer | 200 {"user":{"id":1,"name":"ada","email":"ada@example.com","rootRole":2,"isAPI":false},"permissions":[]}
		2 | Admin | 200 {"user":{"id":2,"name":"Bob","rootRole":2,"isAPI":false},"permissions":[MAY"ADMIN"}]}
		3 | Editor | 200 {"user":{"id":3,"name":"ci","username":"ci","rootRole":2,"isAPI":false},"permissions":[MAY"CREATE_CONTEXT_FIELD"},MAY"UPDATE_CONTEXT_FIELD"},MAY"DELETE_CONTEXT_FIELD"},MAY"CREATE_FEATURE"},MAY"UPDATE_FEATURE"},MAY"DELETE_FEATURE"}]}
		4 | Editor | 401 AuthenticationRequired: You need a valid credential in the Authorization header.
		5 | Admin | 401 AuthenticationRequired: You need a valid credential in the Authorization header.
	`, "MAY", `{"permission":`)) {
		get(t.Context(), row[0], row[1], row[2])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	get(ctx, "1", "Admin", "503 ServiceUnavailable: …")
}
