package contextfield

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// NewGetFunction returns the handler of functions/get-context-field.
func NewGetFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("CONTEXT_FIELDS_TABLE")
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.IsAnyone, Get(NewStore(client, tables, nil)))), nil
}

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
