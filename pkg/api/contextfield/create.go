package contextfield

import (
	_ "embed"
	"net/http"
	"time"

	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

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
		return lambdahttp.WriteJSON(w, http.StatusCreated, response(created, inEveryProject))
	}
}
