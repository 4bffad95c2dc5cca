package contextfield

import (
	_ "embed"
	"net/http"

	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed update.schema.json
var updateSchema []byte

// Update serves PUT /api/admin/context/{name}.
func Update(fields *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, Rules()...)
		if err != nil {
			return err
		}
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return notFound(name)
		}
		check, err := precondition(r)
		if err != nil {
			return err
		}
		f, err := fields.Replace(r.Context(), fromBody(name, body), check)
		if err != nil {
			return err
		}
		return respond(w, r, http.StatusOK, f)
	}
}
