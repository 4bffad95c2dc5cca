package contextfield

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

// NewCreateFunction returns the handler of functions/create-context-field.
func NewCreateFunction(env *app.Env) (lambda.Handler, error) {
	fields, err := newLimitedStore(env)
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.Has(access.CreateFieldPermission), Create(fields, env.Now))), nil
}

// Create serves POST /api/admin/context.
func Create(fields *Store, now func() time.Time) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, uniqueValues)
		if err != nil {
			return err
		}
		f, err := fromBody(r.Context(), fields, body.Text("name"), body)
		if err != nil {
			return err
		}
		f.CreatedAt = new(datetime.Milliseconds(now()))
		err = fields.Create(r.Context(), f)
		if errors.Is(err, ErrTooLarge) {
			return fields.tooLarge()
		}
		if errors.Is(err, ErrExists) {
			return apierror.New(apierror.NameExists, fmt.Sprintf("A context field with the name %q exists.",
				apierror.Echo(f.Name)))
		}
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(f.Name).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, response(f))
	}
}
