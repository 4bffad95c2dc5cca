package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
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
	err := access.Require(requirement, func(_ http.ResponseWriter, r *http.Request) error {
		p = access.PrincipalFrom(r.Context())
		return nil
	})(httptest.NewRecorder(),
		r.WithContext(lambdahttp.WithGateway(t.Context(), lambdahttp.Gateway{Authorizer: authorizer})))
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
		"Owner":     access.UserPrincipal(4, "Owner"),
		"neither":   {ID: "api-token:x"}, // neither user nor permission; not used today
	}
	for _, row := range table.Rows(t, 3, `
		# requirement | who meets it | error of the others
		anyone | API-token Admin Editor Viewer Owner neither |
		user | Admin Editor Viewer Owner | 403 You need a token that identifies a user to perform this operation.
		user or 401 | Admin Editor Viewer Owner | 401 This operation requires a token that identifies a user.
		ADMIN | API-token Admin | 403 You need the "ADMIN" permission to perform this operation.
		UPDATE_FEATURE | API-token Admin Editor | 403 You need the "UPDATE_FEATURE" permission to perform this operation.
	`) {
		requirement, special := map[string]access.Requirement{"anyone": access.IsAnyone, "user": access.IsUser,
			"user or 401": access.IsUserOr401}[row[0]]
		if !special {
			requirement = access.Has(access.Permission(row[0]))
		}
		for name, want := range principals {
			want.Name, want.TokenID = "Ada", "12"
			context, wantFailure := want.Context(), ""
			context["principalId"], context["integrationLatency"] = want.ID, 12 // added by API Gateway
			if !slices.Contains(strings.Fields(row[1]), name) {
				want, wantFailure = access.Principal{}, row[2]
			}
			got, failure := send(t, requirement, context)
			assert.Equal(t, want, got)
			assert.Equal(t, wantFailure, failure)
		}
	}
}

func TestAuthorizerContext(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, strings.NewReplacer(
		"INVALID", "401 You need a valid credential in the Authorization header.", "LACKS", `403 You need the "ADMIN" permission to perform this operation.`).Replace(`
		null | INVALID
		{"userId": "1", "permissions": "ADMIN"} | INVALID
		{"principalId": "", "userId": "1", "permissions": "ADMIN"} | INVALID
		{"principalId": 1, "userId": "1", "permissions": "ADMIN"} | INVALID
		{"principalId": "user:0", "userId": "0", "permissions": "ADMIN"} | INVALID
		{"principalId": "user:", "userId": "", "permissions": "ADMIN"} | INVALID
		{"principalId": "user:1", "permissions": "ADMIN"} |
		{"principalId": "user:1", "permissions": "X,ADMIN"} |
		{"principalId": "user:1", "permissions": "ADMIN,X"} |
		{"principalId": "user:1", "permissions": ""} | LACKS
		{"principalId": "user:1", "permissions": "admin"} | LACKS
		{"principalId": "user:1", "permissions": "ADMIN "} | LACKS
		{"principalId": "user:1", "permissions": "XADMIN"} | LACKS
		{"principalId": "user:1", "permissions": "ADMINX"} | LACKS
		{"principalId": "user:1", "permissions": ","} | LACKS
		{"principalId": "user:1", "permissions": null} | LACKS
		{"principalId": "user:1", "permissions": true} | LACKS
	`)) {
		var context map[string]any
		assert.OK(t, json.Unmarshal([]byte(row[0]), &context))
		_, got := send(t, access.Has(access.Admin), context)
		assert.Equal(t, row, []string{row[0], got})
	}
}
