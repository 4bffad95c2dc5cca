package feature

import (
	_ "embed"
	"maps"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed clone.schema.json
var cloneSchema []byte

// Clone serves POST /api/admin/projects/{projectId}/features/{featureName}/clone. limit is that of Reader.CheckLimit,
// newID returns the id of a new strategy.
func Clone(features *Store, limit int64, now func() time.Time, newID func() string) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(cloneSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, notReserved)
		if err != nil {
			return err
		}
		project, name, err := PathOf(r)
		if err != nil {
			return err
		}
		source, err := features.InProject(project).Get(r.Context(), name)
		if err != nil {
			return err
		}
		if err := features.CheckLimit(r.Context(), limit); err != nil {
			return err
		}
		replaceGroup := !body.Has("replaceGroupId") || body.Bool("replaceGroupId")
		f := copyOf(source, body.Text("name"), replaceGroup, newID)
		f.CreatedAt = now()
		f.CreatedBy = creatorOf(r)
		if err := checkName(r, f); err != nil {
			return err
		}
		if f, err = features.Create(r.Context(), f); err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath("..", "..", f.Name).String())
		return respond(w, r, http.StatusCreated, features.Reader, f)
	}
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
