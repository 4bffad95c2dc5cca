package segment

import (
	_ "embed"
	"net/http"
	"time"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed create.schema.json
var createSchema []byte

//go:embed update.schema.json
var updateSchema []byte

// hasName is the rule that a name, if it is sent, is readable.
func hasName(body jsonbody.Object) string {
	if name, sent := body.TextOK("name"); sent && !toggle.IsReadable(name) {
		return "The `/body/name` property must have a visible character and no control characters."
	}
	return ""
}

// change sets what a body contains.
func change(s *Segment, body jsonbody.Object) {
	if name, sent := body.TextOK("name"); sent {
		s.Name = trimmed(name)
	}
	for property, value := range map[string]**string{"description": &s.Description, "project": &s.Project} {
		if !body.Has(property) {
			continue
		}
		*value = nil
		if text, ok := body.TextOK(property); ok {
			*value = &text
		}
	}
	if body.Has("constraints") {
		s.Constraints, _ = constraint.ParseAll("/body/constraints", body.Objects("constraints"))
	}
}

// Create serves POST /api/admin/segments.
func Create(segments *Store, now func() time.Time) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, hasName, constraint.Rule("constraints"))
		if err != nil {
			return err
		}
		next := Segment{Segment: segmenttable.Segment{CreatedAt: datetime.Milliseconds(now())}}
		if p := access.PrincipalFrom(r.Context()); p.UserID != 0 {
			next.CreatedBy = &toggle.Creator{ID: p.UserID, Name: p.Name}
		}
		change(&next, body)
		created, err := segments.Create(r.Context(), next)
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(segmenttable.Name(created.ID)).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, created.response(nil))
	}
}

// Update serves PUT /api/admin/segments/{id}.
func Update(segments *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, hasName, constraint.Rule("constraints"))
		if err != nil {
			return err
		}
		id, err := idOf(r)
		if err != nil {
			return err
		}
		preconditions := lambdahttp.PreconditionsOf(r)
		err = segments.Update(r.Context(), id, func(s *Segment) error {
			if err := preconditions.Check(etag(*s)); err != nil {
				return err
			}
			change(s, body)
			return nil
		})
		if err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// Delete serves DELETE /api/admin/segments/{id}.
func Delete(segments *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := idOf(r)
		if err != nil {
			return err
		}
		preconditions := lambdahttp.PreconditionsOf(r)
		err = segments.Delete(r.Context(), id, func(s Segment) error { return preconditions.Check(etag(s)) })
		if err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}
