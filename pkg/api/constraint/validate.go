package constraint

import (
	_ "embed"
	"net/http"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed validate.schema.json
var validateSchema []byte

// Validate serves POST /api/admin/constraints/validate.
func Validate(fields *contextfield.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(validateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, func(body jsonbody.Object) []apierror.Detail {
			_, violations := Parse("/body", body)
			return violations
		})
		if err != nil {
			return err
		}
		c, _ := Parse("/body", body)
		found, err := fields.Named(r.Context(), []string{c.ContextName})
		if err != nil {
			return err
		}
		if err := apierror.InvalidIfAny(checkField("/body", c, found)); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}
