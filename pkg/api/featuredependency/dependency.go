// Package featuredependency serves the operations on the dependency of a toggle on another one, its parent. The
// transaction of pkg/api/feature that writes the toggle keeps the children of the parent.
package featuredependency

import (
	_ "embed"
	"net/http"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed add.schema.json
var addSchema []byte

// Add serves POST /api/admin/projects/{projectId}/features/{featureName}/dependencies.
func Add(features *feature.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(addSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, noIgnoredVariants)
		if err != nil {
			return err
		}
		dependency := toggle.Dependency{
			Feature:  body.Text("feature"),
			Enabled:  requiresOn(body),
			Variants: body.Texts("variants"),
		}
		return update(r, features, func(f *toggle.Feature) error {
			f.Dependency = &dependency
			return nil
		})
	}
}

// requiresOn reports whether the parent must be on.
func requiresOn(body jsonbody.Object) bool { return !body.Has("enabled") || body.Bool("enabled") }

// noIgnoredVariants is the rule that variants are named only if the parent must be on.
func noIgnoredVariants(body jsonbody.Object) []apierror.Detail {
	if requiresOn(body) || len(body.Texts("variants")) == 0 {
		return nil
	}
	return []apierror.Detail{
		apierror.At("/body/variants", "must be empty if `enabled` is false: a toggle that is off has no variant"),
	}
}

// Remove serves DELETE /api/admin/projects/{projectId}/features/{featureName}/dependencies/{parent}.
func Remove(features *feature.Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		parent, invalid := lambdahttp.PathParam(r, "parent")
		return update(r, features, func(f *toggle.Feature) error {
			if invalid != nil || f.Dependency == nil || f.Dependency.Feature != parent {
				return apierror.Errorf(apierror.NotFound, "The toggle %q does not depend on the toggle %q.",
					apierror.Echo(f.Name), apierror.Echo(parent))
			}
			f.Dependency = nil
			return nil
		})
	}
}

// update changes the dependency of the toggle of a request.
func update(r *http.Request, features *feature.Store, change func(f *toggle.Feature) error) error {
	project, name, err := feature.PathOf(r)
	if err != nil {
		return err
	}
	preconditions, err := lambdahttp.PreconditionsOf(r)
	if err != nil {
		return err
	}
	_, err = features.InProject(project).Update(r.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
		tag := feature.ETag(f)
		if err := change(&f); err != nil {
			return f, err
		}
		return f, preconditions.Check(tag)
	})
	return err // nil: 200 without a body
}
