package contextfield

import (
	"net/http"

	"toggleadmin/pkg/platform/lambdahttp"
)

// Get serves GET /api/admin/context/{name}.
func Get(fields *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return notFound(name)
		}
		f, err := fields.Get(r.Context(), name)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", f.ETag())
		return lambdahttp.WriteJSON(w, http.StatusOK, response(f))
	}
}
