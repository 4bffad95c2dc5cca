package trust

import (
	"cmp"
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Delete serves DELETE /api/admin/service-account/{id}/trust/{trustId}.
func Delete(trusts *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		account, err := user.PathID(r)
		id, ok := access.ParseID(r.PathValue("trustId"))
		if err != nil || !ok {
			return noTrust(r)
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		if failed := preconditions.Check(lambdahttp.NoETag); failed != nil {
			_, err = trusts.Find(r.Context(), account, id)
			err = cmp.Or(err, failed)
		} else {
			err = trusts.Delete(r.Context(), account, id)
		}
		if apierror.KindOf(err) == apierror.NotFound {
			return noTrust(r)
		}
		return err // nil: 200 without a body
	}
}

// noTrust returns the 404 for a path that is not the path of a trust.
func noTrust(r *http.Request) error {
	account, _ := lambdahttp.PathParam(r, "id")
	id, _ := lambdahttp.PathParam(r, "trustId")
	return apierror.Errorf(apierror.NotFound, "There is no service account with the id %q that has a trust with the id %q.",
		apierror.Echo(account), apierror.Echo(id))
}
