// Package featuredependency serves the operations on the dependency of a toggle on another one, its parent. The
// transaction of pkg/api/feature that writes the toggle keeps the children of the parent.
package featuredependency

import (
	_ "embed"
	"net/http"
	"slices"

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
	schema := AddSchema()
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, NoIgnoredVariants)
		if err != nil {
			return err
		}
		return update(r, features, func(f toggle.Feature) (toggle.Feature, error) { return Added(f, body), nil })
	}
}

// AddSchema returns the schema of the body of Add. NoIgnoredVariants is a rule for it.
func AddSchema() *jsonbody.Schema { return jsonbody.MustCompile(addSchema) }

// AddSchemaText returns the JSON text of AddSchema.
func AddSchemaText() []byte { return slices.Clone(addSchema) }

// Added returns a toggle with the dependency that a body of Add describes.
func Added(f toggle.Feature, body jsonbody.Object) toggle.Feature {
	f.Dependency = &toggle.Dependency{
		Feature:  body.Text("feature"),
		Enabled:  requiresOn(body),
		Variants: body.Texts("variants"),
	}
	return f
}

// Removed returns a toggle without its dependency on a parent. The kind of its error is NotFound if it does not depend on
// it.
func Removed(f toggle.Feature, parent string) (toggle.Feature, error) {
	if f.Dependency == nil || f.Dependency.Feature != parent {
		return f, apierror.Errorf(apierror.NotFound, "The toggle %q does not depend on the toggle %q.",
			apierror.Echo(f.Name), apierror.Echo(parent))
	}
	f.Dependency = nil
	return f, nil
}

// requiresOn reports whether the parent must be on.
func requiresOn(body jsonbody.Object) bool { return !body.Has("enabled") || body.Bool("enabled") }

// NoIgnoredVariants is the rule that variants are named only if the parent must be on.
func NoIgnoredVariants(body jsonbody.Object) []apierror.Detail {
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
		parent, _ := lambdahttp.PathParam(r, "parent") // no toggle has an invalid name
		return update(r, features, func(f toggle.Feature) (toggle.Feature, error) { return Removed(f, parent) })
	}
}

// update changes the dependency of the toggle of a request.
func update(r *http.Request, features *feature.Store, change feature.Change) error {
	project, name, err := feature.PathOf(r)
	if err != nil {
		return err
	}
	preconditions, err := lambdahttp.PreconditionsOf(r)
	if err != nil {
		return err
	}
	_, err = features.InProject(project).Update(r.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
		next, err := change(f)
		if err != nil {
			return f, err
		}
		return next, preconditions.Check(feature.ETag(f))
	})
	return err // nil: 200 without a body
}
