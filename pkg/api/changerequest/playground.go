package changerequest

import (
	_ "embed"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed playground.schema.json
var playgroundSchema []byte

// Playground serves POST /api/admin/playground/change-request/{id}.
func Playground(
	requests *Store, toggles *playground.Store, now func() time.Time, random io.Reader,
) lambdahttp.HandlerFunc {
	return onRequest(playgroundSchema, func(w http.ResponseWriter, r *http.Request, in input) error {
		request, err := requests.ByID(r.Context(), in.id)
		if err != nil {
			return err
		}
		e, err := requests.evaluate(r.Context(), request)
		if err != nil {
			return err
		}
		projects, err := access.VisibleProjects(r.Context())
		if err != nil {
			return err
		}
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		var before playground.Version
		if before.Features, err = toggles.Features(r.Context(), visible); err != nil {
			return err
		}
		if before.Segments, err = toggles.Segments(r.Context(), visible); err != nil {
			return err
		}
		fields := playground.FieldsOf(in.body)
		ctx, err := fields.Context(now(), random)
		if err != nil {
			return err
		}
		results, err := playground.Evaluation{
			Toggles:        e.shownIn(request, before),
			Environments:   slices.Sorted(maps.Keys(e.environments)),
			HasEnvironment: access.HaveEnvironments(projects),
			Fields:         fields,
			Versions:       []playground.Version{before, e.changed(before)},
		}.Results(r.Context(), ctx)
		if err != nil {
			return err
		}
		return playground.Respond(w, in.body, results)
	}, playground.NoFixedProperties)
}

// shownIn returns the toggles in a version whose results a request can change: those of its changes, and those that use its
// segments in an environment in which it acts. They are ordered by name.
func (e evaluation) shownIn(r Request, v playground.Version) []toggle.Feature {
	shown := maps.Clone(e.toggles)
	for _, f := range v.Features {
		for environment := range e.environments {
			for _, s := range f.Environments[environment].Strategies {
				if slices.ContainsFunc(r.Changes, func(c Change) bool { return slices.Contains(s.Segments, c.Segment) }) {
					shown[f.Name] = f
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(shown), func(a, b toggle.Feature) int { return strings.Compare(a.Name, b.Name) })
}

// changed returns a version after the changes of a request.
func (e evaluation) changed(v playground.Version) (after playground.Version) {
	for _, f := range v.Features {
		if changed, ok := e.after.toggles[f.Name]; ok {
			f = changed.Normalized()
		}
		if !f.Archived {
			after.Features = append(after.Features, f)
		}
	}
	for _, s := range v.Segments {
		if changed, ok := e.after.segments[s.ID]; ok {
			s = changed.Segment.Segment
		}
		after.Segments = append(after.Segments, s)
	}
	return after
}
