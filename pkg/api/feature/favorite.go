package feature

import (
	"context"
	"net/http"

	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/platform/lambdahttp"
)

// AddFavorite serves POST /api/admin/projects/{projectId}/features/{featureName}/favorites.
func AddFavorite(features *Reader) lambdahttp.HandlerFunc {
	return changeFavorite(features, features.favorites.Add)
}

// RemoveFavorite serves DELETE /api/admin/projects/{projectId}/features/{featureName}/favorites.
func RemoveFavorite(features *Reader) lambdahttp.HandlerFunc {
	return changeFavorite(features, features.favorites.Remove)
}

func changeFavorite(features *Reader, change func(context.Context, favorite.Favorite) error) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		f, err := Requested(r, features)
		if err != nil {
			return err
		}
		if err := lambdahttp.CheckUntagged(r); err != nil {
			return err
		}
		return change(r.Context(), favorite.Feature(f)) // nil: 200 without a body
	}
}
