package feature

import (
	_ "embed"
	"net/http"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed move.schema.json
var moveSchema []byte

// Move serves POST /api/admin/projects/{projectId}/features/{featureName}/changeProject. Its requirement is the permission
// in the project of the path; Move requires it in the other one, too.
func Move(features *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(moveSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		id, name, err := PathOf(r)
		if err != nil {
			return err
		}
		target := body.Text("newProjectId")
		if err := access.CheckProject(r.Context(), target, access.MoveFeature); err != nil {
			return err
		}
		destination, err := access.VisibleProject(r.Context(), target)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		_, err = features.InProject(id).Update(r.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
			if err := preconditions.Check(ETag(f)); err != nil {
				return f, err
			}
			if f.Dependency != nil || len(f.Children) > 0 {
				return f, apierror.Errorf(apierror.Conflict,
					"The toggle %q has a parent or children. Remove the dependencies before you move it.", f.Name)
			}
			if err := project.CheckMove(destination, f.Name); err != nil {
				return f, err
			}
			f.Project = target
			return f, nil
		})
		return err // nil: 200 without a body
	}
}
