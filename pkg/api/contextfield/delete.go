package contextfield

import (
	"net/http"

	"toggleadmin/pkg/platform/lambdahttp"
)

// Delete serves DELETE /api/admin/context/{name}.
func Delete(fields *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return notFound(name)
		}
		check, err := precondition(r)
		if err != nil {
			return err
		}
		return fields.DeleteIf(r.Context(), name, check) // nil: 200 without a body
	}
}
