package pat

import (
	"cmp"
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Delete serves DELETE /api/admin/service-account/{id}/token/{tokenId}.
func Delete(pats *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		account, id, ok := pathIDs(r)
		if !ok {
			return noToken(r)
		}
		err := deleteIf(r, pats, user.ServiceAccount, account, id)
		if apierror.KindOf(err) == apierror.NotFound {
			return noToken(r)
		}
		return err // nil: 200 without a body
	}
}

// deleteIf deletes a token of an account of the kind if the preconditions of the request allow it. The kind of
// its error is NotFound if there is no such token.
func deleteIf(r *http.Request, pats *Store, kind user.Kind, userID, id int64) error {
	preconditions, err := lambdahttp.PreconditionsOf(r)
	if err != nil {
		return err
	}
	if failed := preconditions.Check(lambdahttp.NoETag); failed != nil {
		return cmp.Or(pats.Find(r.Context(), kind, userID, id), failed)
	}
	return pats.Delete(r.Context(), kind, userID, id)
}
