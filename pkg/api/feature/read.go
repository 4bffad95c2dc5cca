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

// maxName is more than the length of the name of a toggle.
const maxName = 1000

// featureList is the response of List.
type featureList struct {
	Version  int        `json:"version"`
	Features []Response `json:"features"`
	More     bool       `json:"more,omitzero"` // toggles follow; only of a list of whole toggles
}

// List serves GET /api/admin/projects/{projectId}/features.
func List(features *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		q := lambdahttp.NewQuery(r)
		full, archived := q.OneOf("full", "false", "true") == "true", q.OneOf("archived", "false", "true") == "true"
		after := q.Text("after", maxName)
		if err := q.Err(); err != nil {
			return err
		}
		project, response := ProjectOf(r), newResponse
		if full {
			response = newFullResponse
		}
		all, err := features.responses(r.Context(), func(ctx context.Context, _ Resources) ([]toggle.Feature, error) {
			return features.list(ctx, func(row featuretable.Row) bool {
				return row.Toggle.Project == project && row.Toggle.Archived == archived && row.Toggle.Name > after
			})
		}, response)
		if err != nil {
			return err
		}
		n, err := fitting(all)
		if err != nil {
			return err
		}
		if n < len(all) && !full {
			return apierror.Errorf(apierror.Validation,
				"The list of the %d toggles of the project is larger than %d bytes. Use the pages of "+
					"GET /api/admin/search/features?project=IS:%s.", len(all), maxList, project)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, featureList{listVersion, all[:n], n < len(all)})
	}
}

// fitting returns how many toggles a response can have: all, or those at the beginning. There is room for any one.
func fitting(all []Response) (int, error) {
	const around = len(`"{\"version\":2,\"features\":[],\"more\":true}"`)
	size := around
	for i, one := range all {
		own, err := jsonbody.SizeInResponse(one)
		if err != nil {
			return 0, err
		}
		if size += own; i > 0 && size > maxList {
			return i, nil
		}
	}
	return len(all), nil
}
