package environment

import (
	_ "embed"
	"net/http"

	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed update.schema.json
var updateSchema []byte

// Update serves PUT /api/admin/environments/update/{name}.
func Update(environments *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		name, badName := lambdahttp.PathParam(r, "name")
		body, err := schema.Read(r, jsonbody.AsInPath("name", name))
		if err != nil {
			return err
		}
		if badName != nil {
			return NotFound(name)
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		e, err := environments.Update(r.Context(), name, func(e *Environment) error {
			if err := preconditions.Check(ETag(*e)); err != nil {
				return err
			}
			if text, ok := body.TextOK("type"); ok {
				e.Type = text
			}
			if order, ok := body.Int("sortOrder"); ok {
				e.SortOrder = order
			}
			if body.Has("requiredApprovals") {
				e.RequiredApprovals, _ = body.Int("requiredApprovals")
			}
			return nil
		})
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, e.Response())
	}
}
