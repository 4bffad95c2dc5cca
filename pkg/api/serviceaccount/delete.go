package serviceaccount

import (
	"cmp"
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Delete serves DELETE /api/admin/service-account/{id}.
func Delete(accounts *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, err := user.PathID(r)
		if err != nil {
			return err
		}
		failed := lambdahttp.PreconditionsOf(r).Check(lambdahttp.NoETag)
		if failed == nil {
			err = accounts.Delete(r.Context(), id)
		} else {
			err = cmp.Or(accounts.Find(r.Context(), id), failed)
		}
		return user.NameServiceAccount(r, err) // nil: 200 without a body
	}
}
