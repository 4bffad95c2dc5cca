package feature

import (
	"cmp"
	"context"
	_ "embed"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed create.schema.json
var createSchema []byte

//go:embed update.schema.json
var updateSchema []byte

//go:embed update-all.schema.json
var updateAllSchema []byte

//go:embed stale.schema.json
var staleSchema []byte

// Create serves POST /api/admin/projects/{projectId}/features. limit is that of Reader.CheckLimit, newID returns the id of
// a new link.
func Create(features *Store, limit int64, now func() time.Time, newID func() string) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, notReserved, asInPath(r, "project", "projectId"), HasOwner, HasKeep)
		if err != nil {
			return err
		}
		change, err := ChangeOf(r.Context(), features.Reader, body)
		if err != nil {
			return err
		}
		f, err := New(r, features.Reader, body.Text("name"), limit, now, newID)
		if err != nil {
			return err
		}
		if f, err = change(f); err != nil {
			return err
		}
		if f, err = features.Create(r.Context(), f); err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(f.Name).String())
		return respond(w, r, http.StatusCreated, features.Reader, f)
	}
}

// New returns the toggle with a name that a request creates in its project, with the links of the project, and without a
// change of its record. limit is that of Reader.CheckLimit, newID returns the id of a link.
func New(
	r *http.Request, features *Reader, name string, limit int64, now func() time.Time, newID func() string,
) (toggle.Feature, error) {
	f := toggle.Feature{Name: name, Project: ProjectOf(r), Type: toggle.DefaultType, CreatedAt: now()}
	f.CreatedBy, f.Owner = creatorOf(r), firstOwner(r)
	if err := enterProject(r, &f, newID); err != nil {
		return f, err
	}
	return f, features.CheckLimit(r.Context(), limit)
}

// enterProject gives a new toggle the links of its project. Its error is a 400 if the toggle may not have its name there.
func enterProject(r *http.Request, f *toggle.Feature, newID func() string) error {
	p, err := access.VisibleProject(r.Context(), f.Project)
	if err != nil {
		return err
	}
	for _, template := range p.LinkTemplates {
		f.Links = append(f.Links, toggle.Link{ID: newID(), URL: template.URL(p.ID, f.Name), Title: template.Title})
	}
	return project.CheckFeatureName(p, f.Name)
}

// creatorOf returns the creator of a toggle that a request creates, or nil.
func creatorOf(r *http.Request) *toggle.Creator {
	p := access.PrincipalFrom(r.Context())
	if p.UserID == 0 {
		return nil
	}
	return &toggle.Creator{ID: p.UserID, Name: p.Name}
}

// firstOwner returns the owner of a toggle that a request creates without naming one: the person who creates it, or nil.
func firstOwner(r *http.Request) *toggle.Owner {
	p := access.PrincipalFrom(r.Context())
	if p.UserID == 0 || p.IsServiceAccount {
		return nil
	}
	return &toggle.Owner{Kind: toggle.OwnerUser, ID: p.UserID}
}

// notReserved is the rule that a name is not reserved.
func notReserved(body jsonbody.Object) []apierror.Detail {
	if body.Text("name") != toggle.ReservedName {
		return nil
	}
	return []apierror.Detail{apierror.At("/body/name", "must not be %q, which is a path of the API", toggle.ReservedName)}
}

// asInPath is the rule that a property, if it is sent, is the path parameter.
func asInPath(r *http.Request, property, parameter string) jsonbody.Rule {
	value, _ := lambdahttp.PathParam(r, parameter)
	return jsonbody.AsInPath(property, value)
}

// ChangeOf returns the change of the record of a toggle that a body describes, or a 400 if the type does not exist. The
// change returns a 400 if the toggle gets an owner that does not exist.
func ChangeOf(ctx context.Context, features *Reader, body jsonbody.Object) (Change, error) {
	if id, ok := body.TextOK("type"); ok {
		_, found, err := features.Type(ctx, toggle.NormalTypeID(id))
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, apierror.Invalid(apierror.At("/body/type", "must be the id of a feature type").Sent(id))
		}
	}
	owner := OwnerIn(body)
	missing, err := features.missingOwner(ctx, owner)
	if err != nil {
		return nil, err
	}
	return func(f toggle.Feature) (toggle.Feature, error) {
		if missing != nil && body.Has(propertyOwner) && !sameOwner(f.Owner, owner) {
			return f, missing
		}
		return Recorded(f, body, features.now())
	}, nil
}

// Recorded returns a toggle with the properties of its record in a body. Its type and its owner need not exist. Its error
// is a 400.
func Recorded(f toggle.Feature, body jsonbody.Object, now time.Time) (toggle.Feature, error) {
	if id, ok := body.TextOK("type"); ok {
		f.Type = toggle.NormalTypeID(id)
	}
	if body.Has("description") {
		f.Description = nil
		if text, ok := body.TextOK("description"); ok {
			f.Description = &text
		}
	}
	if body.Has("impressionData") {
		f.ImpressionData = body.Bool("impressionData")
	}
	if owner := OwnerIn(body); body.Has(propertyOwner) && !sameOwner(f.Owner, owner) {
		f.Owner = owner
	}
	return keep(f, body, now)
}

// Update serves PUT /api/admin/projects/{projectId}/features/{featureName}.
func Update(features *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, asInPath(r, "name", "featureName"), asInPath(r, "project", "projectId"), HasOwner, HasKeep)
		if err != nil {
			return err
		}
		project, name, err := PathOf(r)
		if err != nil {
			return err
		}
		change, err := ChangeOf(r.Context(), features.Reader, body)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		f, err := features.InProject(project).Update(r.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
			if err := preconditions.Check(ETag(f)); err != nil {
				return f, err
			}
			if body.Has("archived") && body.Bool("archived") != f.Archived {
				return f, apierror.Invalid(apierror.At("/body/archived",
					"must be %t, as the toggle is: an update neither archives nor revives it", f.Archived).
					SentJSON(strconv.FormatBool(!f.Archived)))
			}
			if body.Has("stale") {
				f.Stale = body.Bool("stale")
			}
			return change(f)
		})
		if err != nil {
			return err
		}
		return respond(w, r, http.StatusOK, features.Reader, f)
	}
}

// UpdateAll serves PUT /api/admin/projects/{projectId}/features.
func UpdateAll(features *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateAllSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, HasOwner, HasKeep)
		if err != nil {
			return err
		}
		change, err := ChangeOf(r.Context(), features.Reader, body)
		if err != nil {
			return err
		}
		if err := lambdahttp.CheckUntagged(r); err != nil {
			return err
		}
		names := slices.Compact(slices.Sorted(slices.Values(body.Texts("features"))))
		_, err = features.InProject(ProjectOf(r)).UpdateAll(r.Context(), names, change)
		return err // nil: 200 without a body
	}
}

// Archive serves DELETE /api/admin/projects/{projectId}/features/{featureName}.
func Archive(features *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		project, name, err := PathOf(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		_, err = features.InProject(project).Update(r.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
			return Archived(f), preconditions.Check(ETag(f))
		})
		if err != nil {
			return err
		}
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
}

// Archived returns a toggle as it is after it has been archived.
func Archived(f toggle.Feature) toggle.Feature {
	f.Archived = true
	return f
}

// MarkStale serves POST /api/admin/projects/{projectId}/stale.
func MarkStale(features *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(staleSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		failed := preconditions.Check(lambdahttp.NoETag)
		names := slices.Compact(slices.Sorted(slices.Values(body.Texts("features"))))
		inProject := features.InProject(ProjectOf(r))
		_, err = inProject.UpdateAll(r.Context(), names, func(f toggle.Feature) (toggle.Feature, error) {
			if failed == nil {
				f.Stale = body.Bool("stale")
			}
			return f, nil
		})
		if err = cmp.Or(err, failed); err != nil {
			return err
		}
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
}

// Revive serves POST /api/admin/archive/revive/{featureName}. The toggle is off in all environments, or on where it was
// when it was archived.
func Revive(features *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		q := lambdahttp.NewQuery(r)
		keepEnabled := q.OneOf("keepEnabled", "false", "true") == "true"
		if err := q.Err(); err != nil {
			return err
		}
		name, err := NameOf(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		_, err = features.Update(ctx, name, func(f toggle.Feature) (toggle.Feature, error) {
			if err := CheckProject(ctx, f, access.UpdateFeature); err != nil {
				return f, err
			}
			if f.Archived && keepEnabled {
				if err := CheckEnabled(ctx, f); err != nil {
					return f, err
				}
			}
			if err := preconditions.Check(ETag(f)); err != nil {
				return f, err
			}
			return Revived(f, keepEnabled), nil
		})
		return err // nil: 200 without a body
	}
}

// Revived returns a toggle as it is after it has been revived: off in all environments, or with keepEnabled on where it
// was when it was archived.
func Revived(f toggle.Feature, keepEnabled bool) toggle.Feature {
	if f.Archived && !keepEnabled {
		f.TurnOffEverywhere()
	}
	f.Archived = false
	return f
}

// Delete serves DELETE /api/admin/archive/{featureName}.
func Delete(features *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		name, err := NameOf(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		err = features.Delete(ctx, name, func(f toggle.Feature) error {
			if err := CheckProject(ctx, f, access.DeleteFeature); err != nil {
				return err
			}
			if err := preconditions.Check(ETag(f)); err != nil {
				return err
			}
			if f.Archived {
				return nil
			}
			return apierror.Errorf(apierror.Conflict, "The toggle %q is not archived. Archive it first.", apierror.Echo(name))
		})
		return err // nil: 200 without a body
	}
}

// CheckProject returns an error unless the caller has a permission in the project of a toggle that the path names without
// its project. A toggle of a project that the caller does not see is a 404.
func CheckProject(ctx context.Context, f toggle.Feature, permission access.Permission) error {
	return hidden(f, access.CheckProject(ctx, f.Project, permission))
}

// CheckVisible returns a 404 if the caller does not see the project of a toggle that the path names without its project.
func CheckVisible(ctx context.Context, f toggle.Feature) error {
	_, err := access.VisibleProject(ctx, f.Project)
	return hidden(f, err)
}

// hidden returns an error about the project of a toggle. If the caller does not see the project, it is one about the
// toggle.
func hidden(f toggle.Feature, err error) error {
	if apierror.KindOf(err) == apierror.NotFound {
		return NotFound("", f.Name)
	}
	return err
}

// CheckEnabled returns an error unless the caller may turn a toggle on in each environment where it is on.
func CheckEnabled(ctx context.Context, f toggle.Feature) error {
	for _, name := range slices.Sorted(maps.Keys(f.Environments)) {
		if !f.Environments[name].Enabled {
			continue
		}
		if err := access.CheckEnvironment(ctx, f.Project, name, access.UpdateEnvironment); err != nil {
			return err
		}
	}
	return nil
}
