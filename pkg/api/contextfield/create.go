package contextfield

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

// NewCreateFunction returns the handler of functions/create-context-field.
func NewCreateFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, log, err := eventlog.Open(env, "CONTEXT_FIELDS_TABLE")
	if err != nil {
		return nil, err
	}
	create := Create(NewStore(client, tables, log), env.Now)
	return env.API(access.Require(access.Has(access.CreateFieldPermission), create), lambdahttp.MaxBody(maxBody)), nil
}

// Create serves POST /api/admin/context.
func Create(fields *Store, now func() time.Time) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, uniqueValues)
		if err != nil {
			return err
		}
		f := fromBody(body.Text("name"), body)
		f.CreatedAt = new(datetime.Milliseconds(now()))
		created, err := fields.Create(r.Context(), f)
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(created.Name).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, response(created))
	}
}
