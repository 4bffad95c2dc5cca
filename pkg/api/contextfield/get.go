package contextfield

import (
	"net/http"

	"toggleadmin/pkg/platform/lambdahttp"
)

// Get serves GET /api/admin/context/{name}.
func Get(fields *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return notFound(name)
		}
		f, err := fields.Get(r.Context(), name)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", etag(f))
		return respond(w, r, http.StatusOK, f)
	}
}

// etag returns the entity tag of a field. It changes with everything that update-context-field can overwrite.
func etag(f ContextField) string {
	s := f.eventData()
	s.CreatedAt = nil
	return lambdahttp.ETag(s)
}

// precondition returns the check of the preconditions of a request against the field that it changes.
func precondition(r *http.Request) (func(ContextField) error, error) {
	preconditions, err := lambdahttp.PreconditionsOf(r)
	if err != nil {
		return nil, err
	}
	return func(f ContextField) error { return preconditions.Check(etag(f)) }, nil
}
