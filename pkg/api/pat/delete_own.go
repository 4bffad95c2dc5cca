package pat

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// DeleteOwn serves DELETE /api/admin/user/tokens/{id}. It returns the same 404 for every id that is not a token of the
// caller, so that it reveals nothing about other tokens.
func DeleteOwn(pats *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, _ := access.ParseID(r.PathValue("id")) // no token has the id 0
		err := deleteIf(r, pats, AnyKind, access.PrincipalFrom(r.Context()).UserID, id)
		if apierror.KindOf(err) == apierror.NotFound {
			return apierror.New(apierror.NotFound, "You have no personal access token with this id.")
		}
		return err // nil: 200 without a body
	}
}
