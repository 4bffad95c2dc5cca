package user_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/database"
)

func TestGetOwn(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	database.RequireVariables(t, db.Env(t), user.NewGetOwnFunction, "USERS_TABLE")
	add(t, store, person("Ada", "ada@example.com"), 1)
	add(t, store, person("Bob", ""), 2)
	add(t, store, service("ci"), 3)
	add(t, store, service("deleted"), 4)
	if err := store.BeginDeletion(t.Context(), user.ServiceAccount, 4); err != nil {
		t.Fatal(err)
	}
	handler := user.GetOwn(store)
	get := func(ctx context.Context, id int64, role access.Role) (status int, body string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(access.WithPrincipal(ctx, access.UserPrincipal(id, role)), http.MethodGet,
			"/api/admin/user", nil)
		if err := handler(w, r); err != nil {
			e := apierror.From(err)
			return e.Kind.Status(), e.Message
		}
		return w.Code, w.Body.String()
	}
	for _, tt := range []struct {
		id     int64
		role   access.Role // of the request: an account's role can change after the request was authorized
		status int
		want   string
	}{
		{1, access.RoleViewer, 200,
			`{"user":{"id":1,"name":"Ada","email":"ada@example.com","rootRole":3,"isAPI":false},"permissions":[]}`},
		{2, access.RoleAdmin, 200,
			`{"user":{"id":2,"name":"Bob","rootRole":3,"isAPI":false},"permissions":[{"permission":"ADMIN"}]}`},
		{3, access.RoleEditor, 200,
			`{"user":{"id":3,"name":"ci","username":"ci","rootRole":2,"isAPI":false},"permissions":[` +
				`{"permission":"CREATE_CONTEXT_FIELD"},{"permission":"UPDATE_CONTEXT_FIELD"},{"permission":"DELETE_CONTEXT_FIELD"},` +
				`{"permission":"CREATE_FEATURE"},{"permission":"UPDATE_FEATURE"},{"permission":"DELETE_FEATURE"}]}`},
		{4, access.RoleEditor, 401, apierror.TextAuthenticationRequired},
		{5, access.RoleAdmin, 401, apierror.TextAuthenticationRequired},
	} {
		if status, got := get(t.Context(), tt.id, tt.role); status != tt.status || got != tt.want {
			t.Errorf("user %d: %d %s", tt.id, status, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if status, _ := get(ctx, 1, access.RoleAdmin); status != http.StatusServiceUnavailable {
		t.Errorf("without DynamoDB: %d", status)
	}
}
