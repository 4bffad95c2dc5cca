package project

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Archive serves POST /api/admin/projects/archive/{projectId}.
func Archive(projects *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		precondition, err := matching(r, etag)
		if err != nil {
			return err
		}
		return projects.Archive(r.Context(), r.PathValue("projectId"), precondition) // nil: 200 without a body
	}
}

// Revive serves POST /api/admin/projects/revive/{projectId}.
func Revive(projects *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		precondition, err := matching(r, etag)
		if err != nil {
			return err
		}
		return projects.Revive(r.Context(), r.PathValue("projectId"), precondition) // nil: 200 without a body
	}
}

// Delete serves DELETE /api/admin/projects/{projectId}.
func Delete(projects *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		precondition, err := matching(r, etag)
		if err != nil {
			return err
		}
		return projects.Delete(r.Context(), r.PathValue("projectId"), precondition) // nil: 200 without a body
	}
}

// matching returns the check of the preconditions of a request against the entity tag that tag returns.
func matching(r *http.Request, tag func(*access.Project) string) (Precondition, error) {
	preconditions, err := lambdahttp.PreconditionsOf(r)
	return func(p *access.Project) error { return preconditions.Check(tag(p)) }, err
}
