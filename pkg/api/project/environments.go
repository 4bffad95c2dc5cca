package project

import (
	_ "embed"
	"net/http"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed environment.schema.json
var environmentSchema []byte

// AddEnvironment serves POST /api/admin/projects/{projectId}/environments.
func AddEnvironment(projects *Store, environments *environment.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(environmentSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		var changeRequests *bool
		if body.Has("changeRequestsEnabled") {
			changeRequests = new(body.Bool("changeRequestsEnabled"))
		}
		id, name := r.PathValue("projectId"), body.Text("environment")
		return projects.AddEnvironment(r.Context(), id, name, changeRequests, environments) // nil: 200
	}
}

// RemoveEnvironment serves DELETE /api/admin/projects/{projectId}/environments/{environment}.
func RemoveEnvironment(projects *Store, environments *environment.Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, name := r.PathValue("projectId"), r.PathValue("environment")
		precondition, err := matching(r, configTag)
		if err != nil {
			return err
		}
		return projects.RemoveEnvironment(r.Context(), id, name, environments, precondition) // nil: 200
	}
}
