package access

import (
	"net/http"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
)

// Requirement is what an operation requires of a principal. It returns the error for the client, or nil.
type Requirement func(Principal) *apierror.Error

// Has requires a permission.
func Has(permission Permission) Requirement {
	return func(p Principal) *apierror.Error {
		if p.Has(permission) {
			return nil
		}
		return apierror.Errorf(apierror.NoAccess, "You need the %q permission to perform this operation.", permission)
	}
}

// IsAnyone requires a valid credential.
func IsAnyone(Principal) *apierror.Error { return nil }

// IsUser requires a credential that identifies a user.
func IsUser(p Principal) *apierror.Error {
	if p.UserID == 0 {
		return apierror.New(apierror.NoAccess, "You need a token that identifies a user to perform this operation.")
	}
	return nil
}

// IsUserOr401 is IsUser for an operation for which api/openapi.yaml declares no 403.
func IsUserOr401(p Principal) *apierror.Error {
	if p.UserID == 0 {
		return apierror.New(apierror.AuthenticationRequired, "This operation requires a token that identifies a user.")
	}
	return nil
}

// Handler is lambdahttp.HandlerFunc, whose package this package does not import.
type Handler = func(http.ResponseWriter, *http.Request) error

// Require calls next if the principal of the request meets a requirement. A request without an authorizer's context has
// no valid credential.
func Require(requirement Requirement, next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, ok := parsePrincipal(apigateway.RequestFrom(r.Context()).Authorizer)
		if !ok {
			return apierror.New(apierror.AuthenticationRequired, apierror.TextAuthenticationRequired)
		}
		if err := requirement(p); err != nil {
			return err
		}
		return next(w, r.WithContext(WithPrincipal(r.Context(), p)))
	}
}
