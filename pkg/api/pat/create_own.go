package pat

import (
	"net/http"
	"time"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// CreateOwn serves POST /api/admin/user/tokens.
func CreateOwn(pats *Store, now func() time.Time, limits Limits) lambdahttp.HandlerFunc {
	caller := func(r *http.Request) (int64, error) { return access.PrincipalFrom(r.Context()).UserID, nil }
	return create(pats, now, limits, AnyKind, caller, func(*http.Request) error {
		// the account was deleted after the request was authenticated
		return apierror.New(apierror.AuthenticationRequired, apierror.TextAuthenticationRequired)
	})
}
