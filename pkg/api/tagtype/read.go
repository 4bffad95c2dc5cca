package tagtype

import (
	"net/http"

	"toggleadmin/pkg/platform/lambdahttp"
)

// responseVersion is the version of the form of responses.
const responseVersion = 1

// List serves GET /api/admin/tag-types.
func List(types *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := types.List(r.Context())
		if err != nil {
			return err
		}
		body := struct {
			Version  int         `json:"version"`
			TagTypes []eventData `json:"tagTypes"`
		}{responseVersion, make([]eventData, len(all))}
		for i, t := range all {
			body.TagTypes[i] = t.data()
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// Get serves GET /api/admin/tag-types/{name}.
func Get(types *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return NotFound(name)
		}
		t, err := types.Get(r.Context(), name)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", etag(t))
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version int       `json:"version"`
			TagType eventData `json:"tagType"`
		}{responseVersion, t.data()})
	}
}

// etag returns the entity tag of a tag type.
func etag(t TagType) string { return lambdahttp.ETag(t.data()) }
