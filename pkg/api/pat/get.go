package pat

import (
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Get serves GET /api/admin/service-account/{id}/token/{tokenId}.
func Get(pats *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		account, id, ok := pathIDs(r)
		if !ok {
			return noToken(r)
		}
		p, owner, err := pats.Get(r.Context(), account, id)
		if apierror.KindOf(err) == apierror.NotFound || err == nil && owner.Kind != user.ServiceAccount {
			return noToken(r)
		}
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, NewResponse(p))
	}
}

// pathIDs returns the ids in the path of a service account's token.
func pathIDs(r *http.Request) (account, id int64, ok bool) {
	account, err := user.PathID(r)
	id, ok = access.ParseID(r.PathValue("tokenId"))
	return account, id, ok && err == nil
}

// noToken returns the 404 for a path that is not the path of a service account's token.
func noToken(r *http.Request) error {
	account, _ := lambdahttp.PathParam(r, "id")
	id, _ := lambdahttp.PathParam(r, "tokenId")
	return apierror.Errorf(apierror.NotFound,
		"There is no service account with the id %q that has a token with the id %q.", apierror.Echo(account),
		apierror.Echo(id))
}
