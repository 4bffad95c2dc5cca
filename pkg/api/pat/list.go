package pat

import (
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/lambdahttp"
)

// List serves GET /api/admin/service-account/{id}/token. It also reads the account: an account without tokens is not a
// 404, but a person is. It reads the tokens first, so that those of an account that is deleted in between are not an
// empty list.
func List(pats *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := user.PathID(r)
		if err != nil {
			return err
		}
		all, err := pats.ListOf(r.Context(), id)
		if err != nil {
			return err
		}
		if _, err = pats.accounts.Find(r.Context(), user.ServiceAccount, id); err != nil {
			return user.NameServiceAccount(r, err)
		}
		return writeList(w, all)
	}
}
