package contextfield

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// NewDeleteFunction returns the handler of functions/delete-context-field.
func NewDeleteFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, log, err := eventlog.Open(env, "CONTEXT_FIELDS_TABLE")
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.Has(access.DeleteFieldPermission), Delete(NewStore(client, tables, log)))), nil
}

// Delete serves DELETE /api/admin/context/{name}.
func Delete(fields *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return notFound(name)
		}
		// nil: 200 without a body
		return fields.DeleteIf(r.Context(), name, lambdahttp.PreconditionsOf(r).Check)
	}
}
