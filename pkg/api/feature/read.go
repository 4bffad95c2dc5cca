package feature

import (
	"context"
	"net/http"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Get serves GET /api/admin/projects/{projectId}/features/{featureName}.
func Get(features *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, err := Requested(r, features)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", ETag(f))
		return respond(w, r, http.StatusOK, features, f)
	}
}

// respond writes the response of an operation on one toggle.
func respond(w http.ResponseWriter, r *http.Request, status int, features *Reader, f toggle.Feature) error {
	known, err := features.resourcesOf(r.Context(), f)
	if err != nil {
		return err
	}
	return lambdahttp.WriteJSON(w, status, newFullResponse(f, known))
}

const (
	listVersion = 2
	// maxList is the maximum size of a list in Lambda's response, in bytes. Lambda's limit is 6 MB.
	maxList = 5_000_000
)

// List serves GET /api/admin/projects/{projectId}/features.
func List(features *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		project := ProjectOf(r)
		all, err := features.Responses(r.Context(), func(ctx context.Context, _ Resources) ([]toggle.Feature, error) {
			return features.list(ctx, func(row featuretable.Row) bool {
				return row.Toggle.Project == project && !row.Toggle.Archived
			})
		})
		if err != nil {
			return err
		}
		body := struct {
			Version  int        `json:"version"`
			Features []Response `json:"features"`
		}{listVersion, all}
		size, err := jsonbody.SizeInResponse(body)
		if err != nil {
			return err
		}
		if size > maxList {
			return apierror.Errorf(apierror.Validation,
				"The list of the %d toggles of the project is larger than %d bytes. Use the pages of "+
					"GET /api/admin/search/features?project=IS:%s.", len(all), maxList, project)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}
