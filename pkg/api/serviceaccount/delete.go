package serviceaccount

import (
	"cmp"
	"net/http"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Delete serves DELETE /api/admin/service-account/{id}.
func Delete(users *user.Store, pats *pat.Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, err := user.PathID(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		failed := preconditions.Check(lambdahttp.NoETag)
		if failed == nil {
			err = pats.DeleteOwner(r.Context(), user.ServiceAccount, id, false)
		} else {
			_, err = users.Find(r.Context(), user.ServiceAccount, id)
			err = cmp.Or(err, failed)
		}
		return user.NameServiceAccount(r, err) // nil: 200 without a body
	}
}
