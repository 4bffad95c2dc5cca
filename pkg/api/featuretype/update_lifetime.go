package featuretype

import (
	_ "embed"
	"net/http"
	"slices"

	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed lifetime.schema.json
var lifetimeSchema []byte

// LifetimeSchema returns the schema of the body of UpdateLifetime.
func LifetimeSchema() *jsonbody.Schema { return jsonbody.MustCompile(lifetimeSchema) }

// LifetimeSchemaText returns the JSON text of LifetimeSchema.
func LifetimeSchemaText() []byte { return slices.Clone(lifetimeSchema) }

// UpdateLifetime serves PUT /api/admin/feature-types/{id}/lifetime.
func UpdateLifetime(types *Store) lambdahttp.HandlerFunc {
	schema := LifetimeSchema()
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		id, err := lambdahttp.PathParam(r, "id")
		if err != nil {
			return notFound(id)
		}
		var lifetime *int64
		if days, ok := body.Int("lifetimeDays"); ok && days != 0 { // 0 is stored and returned as null
			lifetime = &days
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		updated, err := types.setLifetime(r.Context(), id, lifetime, func(all []toggle.Type) error {
			return preconditions.Check(etag(all))
		})
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, updated)
	}
}
