package segment

import (
	"context"
	_ "embed"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed create.schema.json
var createSchema []byte

//go:embed update.schema.json
var updateSchema []byte

// CreateSchema returns the schema of the body of Create. Rules are those for it.
func CreateSchema() *jsonbody.Schema { return jsonbody.MustCompile(createSchema) }

// CreateSchemaText returns the JSON text of CreateSchema.
func CreateSchemaText() []byte { return slices.Clone(createSchema) }

// UpdateSchema returns the schema of the body of Update. Rules are those for it.
func UpdateSchema() *jsonbody.Schema { return jsonbody.MustCompile(updateSchema) }

// Rules returns the rules for the bodies of Create and Update.
func Rules() []jsonbody.Rule {
	return []jsonbody.Rule{jsonbody.ReadableName(toggle.IsReadable), constraint.Rule("constraints")}
}

// Change sets what a body of Create or Update contains.
func Change(s *Segment, body jsonbody.Object) {
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

// check returns an error unless the caller has a permission of the type root or, for a segment of a project,
// UPDATE_PROJECT_SEGMENT there. The kind of its error is NotFound if the caller does not see the project.
func check(ctx context.Context, permission access.Permission, project *string) error {
	if project == nil {
		return access.Check(ctx, permission)
	}
	may, err := access.MayInProject(ctx, *project, access.UpdateProjectSegment)
	if err != nil || may || access.PrincipalFrom(ctx).Has(permission) {
		return err
	}
	return apierror.Errorf(apierror.NoAccess,
		"You need the %q permission, or the %q permission in the project %q, to perform this operation.", permission,
		access.UpdateProjectSegment, *project)
}

// checkStored is check for a segment that is stored. One of a project that the caller does not see is a 404.
func checkStored(ctx context.Context, permission access.Permission, s Segment) error {
	err := check(ctx, permission, s.Project)
	if apierror.KindOf(err) == apierror.NotFound {
		return notFound(segmenttable.Name(s.ID))
	}
	return err
}

// checkNew is check for the project of a body, which can be nil. A project that does not exist is a 400.
func checkNew(ctx context.Context, permission access.Permission, body jsonbody.Object) error {
	var project *string
	if id, ok := body.TextOK("project"); ok {
		project = &id
	}
	err := check(ctx, permission, project)
	if apierror.KindOf(err) == apierror.NotFound {
		return missingProject(*project)
	}
	return err
}

// Create serves POST /api/admin/segments.
func Create(segments *Store, now func() time.Time) lambdahttp.HandlerFunc {
	schema := CreateSchema()
	return func(w http.ResponseWriter, r *http.Request) error {
		body, invalid := schema.Read(r, Rules()...)
		if err := checkNew(r.Context(), access.CreateSegment, body); err != nil {
			return err
		}
		if invalid != nil {
			return invalid
		}
		next := Segment{Segment: segmenttable.Segment{CreatedAt: datetime.Milliseconds(now())}}
		if p := access.PrincipalFrom(r.Context()); p.UserID != 0 {
			next.CreatedBy = &toggle.Creator{ID: p.UserID, Name: p.Name}
		}
		Change(&next, body)
		created, err := segments.Create(r.Context(), next)
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(segmenttable.Name(created.ID)).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, created.response(nil, inEveryProject))
	}
}

// Update serves PUT /api/admin/segments/{id}.
func Update(segments *Store) lambdahttp.HandlerFunc {
	schema := UpdateSchema()
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		body, invalid := schema.Read(r, Rules()...)
		if invalid != nil && access.Check(ctx, access.UpdateSegment) == nil {
			return invalid
		}
		id, err := idOf(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		err = segments.Update(ctx, id, func(s *Segment) error {
			if err := checkStored(ctx, access.UpdateSegment, *s); err != nil {
				return err
			}
			if invalid != nil {
				return invalid
			}
			if body.Has("project") {
				if err := checkNew(ctx, access.UpdateSegment, body); err != nil {
					return err
				}
			}
			if err := preconditions.Check(etag(*s)); err != nil {
				return err
			}
			Change(s, body)
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
		ctx := r.Context()
		id, err := idOf(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		err = segments.Delete(ctx, id, func(s Segment) error {
			if err := checkStored(ctx, access.DeleteSegment, s); err != nil {
				return err
			}
			return preconditions.Check(etag(s))
		})
		if err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}
