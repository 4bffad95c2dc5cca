package project

import (
	"context"
	"net/http"

	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// ChangeFavorite serves POST and DELETE /api/admin/projects/{projectId}/favorites.
func ChangeFavorite(change func(context.Context, favorite.Favorite) error) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		p, err := access.VisibleProject(r.Context(), r.PathValue("projectId"))
		if err != nil {
			return err
		}
		if err := lambdahttp.CheckUntagged(r); err != nil {
			return err
		}
		return change(r.Context(), favorite.Project(p)) // nil: 200 without a body
	}
}
