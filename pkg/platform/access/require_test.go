package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
)

// send sends a request with an authorizer's context through Require. It returns the principal that the handler saw, or
// the error.
func send(t *testing.T, requirement access.Requirement, authorizer map[string]any) (p access.Principal, failure string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for name, value := range map[string]string{"Authorization": pat, "principalId": "user:1", "userId": "1",
		"permissions": "ADMIN"} {
		r.Header.Set(name, value) // headers must not matter
	}
	err := access.Require(requirement, nil, func(_ http.ResponseWriter, r *http.Request) error {
		p = access.PrincipalFrom(r.Context())
		return nil
	})(httptest.NewRecorder(),
		r.WithContext(apigateway.WithRequest(t.Context(), apigateway.Request{Authorizer: authorizer})))
	if err != nil {
		failed := apierror.From(err)
		failure = fmt.Sprint(lambdahttp.Status(failed.Kind), " ", failed.Message)
	}
	return p, failure
}

func TestRequire(t *testing.T) {
	t.Parallel()
	principals := map[string]access.Principal{
		"API-token": access.APITokenPrincipal(access.PATSelector(1, 1)),
		"Admin":     access.UserPrincipal(1, access.RoleAdmin),
		"Editor":    access.UserPrincipal(2, access.RoleEditor),
		"Viewer":    access.UserPrincipal(3, access.RoleViewer),
		"Owner":     access.UserPrincipal(4, access.RoleOwner),
		"neither":   {ID: "api-token:x"}, // neither user nor permission; not used today
	}
	for _, test := range []struct {
		requirement access.Requirement
		meets       []string // the principals that meet it
		failure     string   // of the others
	}{
		{access.IsAnyone, []string{"API-token", "Admin", "Editor", "Viewer", "Owner", "neither"}, ""},
		{
			access.IsUser,
			[]string{"Admin", "Editor", "Viewer", "Owner"},
			"403 You need a token that identifies a user to perform this operation.",
		},
		{
			access.IsUserOr401,
			[]string{"Admin", "Editor", "Viewer", "Owner"},
			"401 This operation requires a token that identifies a user.",
		},
		{
			access.Has("ADMIN"),
			[]string{"API-token", "Admin"},
			`403 You need the "ADMIN" permission to perform this operation.`,
		},
		{
			access.Has("UPDATE_SEGMENT"),
			[]string{"API-token", "Admin", "Editor"},
			`403 You need the "UPDATE_SEGMENT" permission to perform this operation.`,
		},
	} {
		for name, want := range principals {
			want.Name, want.TokenID, want.IsServiceAccount = "Ada", "12", name == "Viewer"
			context, wantFailure := want.Context(), ""
			context["principalId"], context["integrationLatency"] = want.ID, 12 // added by API Gateway
			if !slices.Contains(test.meets, name) {
				want, wantFailure = access.Principal{}, test.failure
			}
			got, failure := send(t, test.requirement, context)
			assert.Equal(t, want, got)
			assert.Equal(t, wantFailure, failure)
		}
	}
}

func TestAuthorizerContext(t *testing.T) {
	t.Parallel()
	const invalid = "401 You need a valid credential in the Authorization header."
	const lacks = `403 You need the "ADMIN" permission to perform this operation.`
	for _, test := range []struct{ context, failure string }{
		{`null`, invalid},
		{`{"userId": "1", "permissions": "ADMIN"}`, invalid},
		{`{"principalId": "", "userId": "1", "permissions": "ADMIN"}`, invalid},
		{`{"principalId": 1, "userId": "1", "permissions": "ADMIN"}`, invalid},
		{`{"principalId": "user:0", "userId": "0", "permissions": "ADMIN"}`, invalid},
		{`{"principalId": "user:", "userId": "", "permissions": "ADMIN"}`, invalid},
		{`{"principalId": "user:1", "permissions": "ADMIN"}`, ""},
		{`{"principalId": "user:1", "permissions": "X,ADMIN"}`, ""},
		{`{"principalId": "user:1", "permissions": "ADMIN,X"}`, ""},
		{`{"principalId": "user:1", "permissions": ""}`, lacks},
		{`{"principalId": "user:1", "permissions": "admin"}`, lacks},
		{`{"principalId": "user:1", "permissions": "ADMIN "}`, lacks},
		{`{"principalId": "user:1", "permissions": "XADMIN"}`, lacks},
		{`{"principalId": "user:1", "permissions": "ADMINX"}`, lacks},
		{`{"principalId": "user:1", "permissions": ","}`, lacks},
		{`{"principalId": "user:1", "permissions": null}`, lacks},
		{`{"principalId": "user:1", "permissions": true}`, lacks},
	} {
		var context map[string]any
		assert.OK(t, json.Unmarshal([]byte(test.context), &context))
		_, got := send(t, access.Has(access.Admin), context)
		assert.Equal(t, []string{test.context, test.failure}, []string{test.context, got})
	}
}
