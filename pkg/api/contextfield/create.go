package contextfield

import (
	_ "embed"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

// CreateSchema returns the schema of the body of Create. Rules are those for it.
func CreateSchema() *jsonbody.Schema { return jsonbody.MustCompile(createSchema) }

// CreateSchemaText returns the JSON text of CreateSchema.
func CreateSchemaText() []byte { return slices.Clone(createSchema) }

// Create serves POST /api/admin/context.
func Create(fields *Store, now func() time.Time) lambdahttp.HandlerFunc {
	schema := CreateSchema()
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, Rules()...)
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
		return lambdahttp.WriteJSON(w, http.StatusCreated, response(created, inEveryProject))
	}
}
