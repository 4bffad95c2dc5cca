package environment

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"

	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

//go:embed update.schema.json
var updateSchema []byte

// Remove removes the state of an environment, whose deletion has begun, from all toggles. The transaction of each
// toggle has the condition Store.CheckDeletion. Remove can be repeated.
type Remove func(context.Context, Deletion) error

// Create serves POST /api/admin/environments.
func Create(environments *Store, remove Remove) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, notReserved)
		if err != nil {
			return err
		}
		order, sent := body.Int("sortOrder")
		e := Environment{Name: body.Text("name"), Type: body.Text("type"), SortOrder: order, Last: !sent}
		created, err := environments.Create(r.Context(), e)
		for pending := (*PendingError)(nil); errors.As(err, &pending); {
			if err := finish(r.Context(), environments, remove, pending.Deletion); err != nil {
				return err
			}
			created, err = environments.Create(r.Context(), e)
		}
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(created.Name).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, created.response())
	}
}

// notReserved is the rule that a name is not reserved.
func notReserved(body jsonbody.Object) string {
	if err := checkReserved(body.Text("name")); err != nil {
		return fmt.Sprintf("The `/body/name` property %v.", err)
	}
	return ""
}

// Update serves PUT /api/admin/environments/update/{name}.
func Update(environments *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		name, badName := lambdahttp.PathParam(r, "name")
		body, err := schema.Read(r, jsonbody.AsInPath("name", name))
		if err != nil {
			return err
		}
		if badName != nil {
			return NotFound(name)
		}
		preconditions := lambdahttp.PreconditionsOf(r)
		e, err := environments.Update(r.Context(), name, func(e *Environment) error {
			if err := preconditions.Check(etag(*e)); err != nil {
				return err
			}
			if text, ok := body.TextOK("type"); ok {
				e.Type = text
			}
			if order, ok := body.Int("sortOrder"); ok {
				e.SortOrder = order
			}
			return nil
		})
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, e.response())
	}
}

// Delete serves DELETE /api/admin/environments/{name}.
func Delete(environments *Store, remove Remove) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return NotFound(name)
		}
		preconditions := lambdahttp.PreconditionsOf(r)
		deletion, err := environments.MarkDeleted(r.Context(), name,
			func(e Environment) error { return preconditions.Check(etag(e)) })
		if err != nil {
			return err
		}
		return finish(r.Context(), environments, remove, deletion) // nil: 200 without a body
	}
}

// finish continues a deletion that has begun.
func finish(ctx context.Context, environments *Store, remove Remove, d Deletion) error {
	if err := remove(ctx, d); err != nil {
		return err
	}
	return environments.Finish(ctx, d)
}
