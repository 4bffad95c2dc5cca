// Package environmentremoval serves the two operations that can delete an environment: its deletion, and the creation of
// one with the name of an environment whose deletion has not ended. A deletion removes the state of the environment from
// every toggle.
package environmentremoval

import (
	"context"
	_ "embed"
	"errors"
	"net/http"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

// Create serves POST /api/admin/environments.
func Create(environments *environment.Store, features *feature.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, notReserved)
		if err != nil {
			return err
		}
		order, sent := body.Int("sortOrder")
		approvals, _ := body.Int("requiredApprovals")
		e := environment.Environment{Name: body.Text("name"), Type: body.Text("type"), SortOrder: order, Last: !sent,
			RequiredApprovals: approvals}
		created, err := environments.Create(r.Context(), e)
		for pending := (*environment.PendingError)(nil); errors.As(err, &pending); {
			if err := finish(r.Context(), environments, features, pending.Deletion); err != nil {
				return err
			}
			created, err = environments.Create(r.Context(), e)
		}
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(created.Name).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, created.Response())
	}
}

// notReserved is the rule that a name is not reserved.
func notReserved(body jsonbody.Object) []apierror.Detail {
	if err := environment.CheckReserved(body.Text("name")); err != nil {
		return []apierror.Detail{apierror.At("/body/name", "%v", err)}
	}
	return nil
}

// Delete serves DELETE /api/admin/environments/{name}.
func Delete(environments *environment.Store, features *feature.Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return environment.NotFound(name)
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		deletion, err := environments.MarkDeleted(r.Context(), name,
			func(e environment.Environment) error { return preconditions.Check(environment.ETag(e)) })
		if err != nil {
			return err
		}
		return finish(r.Context(), environments, features, deletion) // nil: 200 without a body
	}
}

// finish continues a deletion that has begun.
func finish(
	ctx context.Context, environments *environment.Store, features *feature.Store, d environment.Deletion,
) error {
	if err := features.RemoveEnvironment(ctx, d); err != nil {
		return err
	}
	return environments.Finish(ctx, d)
}
