package feature

import (
	"context"
	_ "embed"
	"maps"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed clone.schema.json
var cloneSchema []byte

// Clone serves POST /api/admin/projects/{projectId}/features/{featureName}/clone. limit is that of Reader.CheckLimit,
// newID returns the id of a new strategy or link.
func Clone(features *Store, limit int64, now func() time.Time, newID func() string) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(cloneSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, notReserved)
		if err != nil {
			return err
		}
		source, err := Requested(r, features.Reader)
		if err != nil {
			return err
		}
		if err := features.CheckLimit(r.Context(), limit); err != nil {
			return err
		}
		replaceGroup := !body.Has("replaceGroupId") || body.Bool("replaceGroupId")
		f := copyOf(source, body.Text("name"), replaceGroup, newID)
		f.CreatedAt = now()
		f.CreatedBy, f.Owner = creatorOf(r), firstOwner(r)
		if err := enterProject(r, &f, newID); err != nil {
			return err
		}
		if err := features.checkCopied(r.Context(), source, f); err != nil {
			return err
		}
		if f, err = features.Create(r.Context(), f); err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath("..", "..", f.Name).String())
		return respond(w, r, http.StatusCreated, features.Reader, f)
	}
}

// checkCopied returns an error if a copy would use a segment that the caller does not see. A toggle keeps the segments of
// its project when it is moved.
func (r *Reader) checkCopied(ctx context.Context, source, f toggle.Feature) error {
	visible, err := r.visibleSegments(ctx, f.Segments())
	if err != nil {
		return err
	}
	for _, id := range f.Segments() {
		if _, ok := visible[id]; !ok {
			return apierror.Errorf(apierror.NoAccess, "The toggle %q cannot be copied: it uses the segment with the id %d, which "+
				"you do not see.", source.Name, id)
		}
	}
	return nil
}

// copyOf returns the copy of a toggle with another name. It is off in all environments, it is not archived, and it has
// no dependency. replaceGroup replaces the group of rollouts.
func copyOf(source toggle.Feature, name string, replaceGroup bool, newID func() string) toggle.Feature {
	f := toggle.Feature{
		Name:           name,
		Project:        source.Project,
		Type:           source.Type,
		Description:    source.Description,
		ImpressionData: source.ImpressionData,
		Stale:          source.Stale,
	}
	for _, environment := range slices.Sorted(maps.Keys(source.Environments)) {
		var e toggle.Environment
		for _, s := range source.Environments[environment].Strategies {
			s.ID = newID()
			if _, has := s.Parameters[toggle.ParameterGroupID]; has && replaceGroup {
				s.Parameters = maps.Clone(s.Parameters)
				s.Parameters[toggle.ParameterGroupID] = name
			}
			e.Strategies = append(e.Strategies, s)
		}
		f.SetEnvironment(environment, e)
	}
	f.ContextFields = source.ContextFields // also those that its strategies do not use
	return f
}
