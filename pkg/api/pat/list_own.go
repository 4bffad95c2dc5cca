package pat

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// ListOwn serves GET /api/admin/user/tokens.
func ListOwn(pats *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := pats.ListOf(r.Context(), access.PrincipalFrom(r.Context()).UserID)
		if err != nil {
			return err
		}
		return writeList(w, all)
	}
}
