package trust

import (
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/lambdahttp"
)

// List serves GET /api/admin/service-account/{id}/trust.
func List(trusts *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := user.PathID(r)
		if err != nil {
			return err
		}
		if _, err = trusts.users.Find(r.Context(), user.ServiceAccount, id); err != nil {
			return user.NameServiceAccount(r, err)
		}
		all, err := trusts.ListOf(r.Context(), id)
		if err != nil {
			return err
		}
		body := struct {
			Trusts []Response `json:"trusts"`
		}{make([]Response, len(all))}
		for i, t := range all {
			body.Trusts[i] = newResponse(t)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}
