package contextfield

import (
	_ "embed"
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed update.schema.json
var updateSchema []byte

// NewUpdateFunction returns the handler of functions/update-context-field.
func NewUpdateFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, log, err := eventlog.Open(env, "CONTEXT_FIELDS_TABLE")
	if err != nil {
		return nil, err
	}
	update := Update(NewStore(client, tables, log))
	return env.API(access.Require(access.Has(access.UpdateFieldPermission), update), lambdahttp.MaxBody(maxBody)), nil
}

// Update serves PUT /api/admin/context/{name}.
func Update(fields *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, uniqueValues)
		if err != nil {
			return err
		}
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return notFound(name)
		}
		f, err := fields.Replace(r.Context(), fromBody(name, body), lambdahttp.PreconditionsOf(r).Check)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, response(f))
	}
}
