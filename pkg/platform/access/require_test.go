package access_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// result is the error that a request got, or the principal that the handler saw.
type result struct {
	Status        int
	Name, Message string
	Principal     access.Principal
}

// send sends a request with an authorizer's context through Require.
func send(t *testing.T, requirement access.Requirement, authorizer map[string]any) result {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for name, value := range map[string]string{"Authorization": pat, "principalId": "user:1", "userId": "1",
		"permissions": "ADMIN"} {
		r.Header.Set(name, value) // headers must not matter
	}
	got := result{Status: http.StatusOK}
	err := access.Require(requirement, func(_ http.ResponseWriter, r *http.Request) error {
		got.Principal = access.PrincipalFrom(r.Context())
		return nil
	})(httptest.NewRecorder(),
		r.WithContext(lambdahttp.WithGateway(t.Context(), lambdahttp.Gateway{Authorizer: authorizer})))
	if err != nil {
		failed := apierror.From(err)
		got.Status, got.Name, got.Message = failed.Kind.Status(), failed.Kind.Name(), failed.Message
	}
	return got
}

// contextOf is what a function receives of a principal.
func contextOf(p access.Principal) map[string]any {
	if p.ID == "" {
		return nil
	}
	context := p.Context()
	context["principalId"] = p.ID
	context["integrationLatency"] = 12 // added by API Gateway
	return context
}

func TestRequire(t *testing.T) {
	t.Parallel()
	var (
		allowed   = result{Status: 200}
		anonymous = result{Status: 401, Name: "AuthenticationRequired",
			Message: "You need a valid credential in the Authorization header."}
		noUser401 = result{Status: 401, Name: "AuthenticationRequired",
			Message: "This operation requires a token that identifies a user."}
		noUser403 = result{Status: 403, Name: "NoAccessError",
			Message: "You need a token that identifies a user to perform this operation."}
		needs = func(permission string) result {
			return result{Status: 403, Name: "NoAccessError",
				Message: `You need the "` + permission + `" permission to perform this operation.`}
		}
	)
	credentials := map[string]access.Principal{
		"no credential":                  {},
		"an API token":                   access.APITokenPrincipal(access.PATSelector(1, 1)),
		"an Admin's PAT":                 access.UserPrincipal(1, access.RoleAdmin),
		"an Editor's PAT":                access.UserPrincipal(2, access.RoleEditor),
		"a Viewer's PAT":                 access.UserPrincipal(3, access.RoleViewer),
		"a PAT of an unknown role":       access.UserPrincipal(4, "Owner"),
		"a token without ADMIN and user": {ID: "api-token:x"}, // not used today
	}
	for name, p := range credentials {
		if p.ID != "" {
			p.Name, p.TokenID = "Ada", "12"
			credentials[name] = p
		}
	}
	// The columns: no credential, API token, Admin, Editor, any other user, neither.
	for requirement, tt := range map[string]struct {
		is   access.Requirement
		want [6]result
	}{
		"anyone":      {access.IsAnyone, [6]result{anonymous, allowed, allowed, allowed, allowed, allowed}},
		"user":        {access.IsUser, [6]result{anonymous, noUser403, allowed, allowed, allowed, noUser403}},
		"user or 401": {access.IsUserOr401, [6]result{anonymous, noUser401, allowed, allowed, allowed, noUser401}},
		"ADMIN": {access.Has(access.Admin), [6]result{anonymous, allowed, allowed, needs("ADMIN"), needs("ADMIN"),
			needs("ADMIN")}},
		"CREATE_CONTEXT_FIELD": {access.Has(access.CreateFieldPermission), [6]result{
			anonymous, allowed, allowed, allowed, needs("CREATE_CONTEXT_FIELD"), needs("CREATE_CONTEXT_FIELD"),
		}},
		"UPDATE_CONTEXT_FIELD": {access.Has(access.UpdateFieldPermission), [6]result{
			anonymous, allowed, allowed, allowed, needs("UPDATE_CONTEXT_FIELD"), needs("UPDATE_CONTEXT_FIELD"),
		}},
		"DELETE_CONTEXT_FIELD": {access.Has(access.DeleteFieldPermission), [6]result{
			anonymous, allowed, allowed, allowed, needs("DELETE_CONTEXT_FIELD"), needs("DELETE_CONTEXT_FIELD"),
		}},
	} {
		for name, principal := range credentials {
			t.Run(requirement+" with "+name, func(t *testing.T) {
				t.Parallel()
				column := map[string]int{"no credential": 0, "an API token": 1, "an Admin's PAT": 2, "an Editor's PAT": 3,
					"a token without ADMIN and user": 5}
				expected := tt.want[4]
				if i, other := column[name]; other {
					expected = tt.want[i]
				}
				if expected.Status == http.StatusOK {
					expected.Principal = principal
				}
				if diff := cmp.Diff(expected, send(t, tt.is, contextOf(principal))); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestInvalidContext(t *testing.T) {
	t.Parallel()
	for name, context := range map[string]map[string]any{
		"null":                        nil,
		"empty":                       {},
		"no principal":                {"userId": "1", "permissions": "ADMIN"},
		"an empty principal":          {"principalId": "", "userId": "1", "permissions": "ADMIN"},
		"a principal of another type": {"principalId": 1, "userId": "1", "permissions": "ADMIN"},
		"a user id of 0":              {"principalId": "user:0", "userId": "0", "permissions": "ADMIN"},
		"a malformed user id":         {"principalId": "user:x", "userId": "x", "permissions": "ADMIN"},
		"an empty user id":            {"principalId": "user:", "userId": "", "permissions": "ADMIN"},
		"a user id beyond 2147483647": {"principalId": "user:2147483648", "userId": "2147483648", "permissions": "ADMIN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := send(t, access.IsAnyone, context); got.Status != http.StatusUnauthorized {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestPermissionsAreAList(t *testing.T) {
	t.Parallel()
	for text, admin := range map[string]bool{
		"ADMIN": true, "X,ADMIN": true, "ADMIN,X": true, "": false, "admin": false, "ADMIN ": false, "XADMIN": false,
		"ADMINX": false, "X": false, ",": false,
	} {
		got := send(t, access.Has(access.Admin), map[string]any{"principalId": "user:1", "userId": "1", "permissions": text})
		if (got.Status == http.StatusOK) != admin {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for name, value := range map[string]any{"absent": nil, "a boolean": true, "a list": []string{"ADMIN"}} {
		if got := send(t, access.Has(access.Admin),
			map[string]any{"principalId": "user:1", "permissions": value}); got.Status != http.StatusForbidden {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
