package contextfield

import (
	_ "embed"
	"errors"
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed update.schema.json
var updateSchema []byte

// NewUpdateFunction returns the handler of functions/update-context-field.
func NewUpdateFunction(env *app.Env) (lambda.Handler, error) {
	fields, err := newLimitedStore(env)
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.Has(access.UpdateFieldPermission), Update(fields))), nil
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
		f, err := fromBody(r.Context(), fields, name, body)
		if err != nil {
			return err
		}
		f, err = fields.Replace(r.Context(), f, lambdahttp.PreconditionsOf(r).Check)
		if errors.Is(err, ErrTooLarge) {
			return fields.tooLarge()
		}
		if errors.Is(err, ErrNotFound) {
			return notFound(name)
		}
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, response(f))
	}
}
