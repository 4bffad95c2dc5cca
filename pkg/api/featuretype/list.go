package featuretype

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// NewListFunction returns the handler of functions/list-feature-types.
func NewListFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("FEATURE_TYPES_TABLE")
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.IsAnyone, List(NewStore(client, tables, nil)))), nil
}

// listVersion is the version of the list's schema; there is only one (api/openapi.yaml).
const listVersion = 1

// List serves GET /api/admin/feature-types.
func List(types *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := types.List(r.Context())
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version int           `json:"version"`
			Types   []FeatureType `json:"types"`
		}{listVersion, append([]FeatureType{}, all...)}) // an empty list is not null
	}
}
