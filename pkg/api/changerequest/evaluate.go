package changerequest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// world is what the changes of a request concern, as it is stored.
type world struct {
	toggles  map[string]toggle.Feature
	segments map[int64]segment.Segment
}

// evaluation is what the changes of a request mean on the state of now.
type evaluation struct {
	world
	after     world // with the changes that have no conflict
	needed    map[protection.Place]int64
	conflicts map[int64]string // sentences, by the id of the change
	frozen    string           // a sentence about the first place that is frozen; "": none

	// The projects and environments in which it acts, as they were read. A project that does not exist is nil.
	projects     map[string]*access.Project
	environments map[string]environment.Environment
}

// list returns the conflicts in the order of the changes.
func (e evaluation) list(r Request) (texts []string) {
	for _, c := range r.Changes {
		if text := e.conflicts[c.ID]; text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// simulate makes the changes of a request in a world. It returns the world after them, and the conflicts.
func (a actions) simulate(r Request, w world) (after world, conflicts map[int64]string) {
	after, conflicts = world{maps.Clone(w.toggles), maps.Clone(w.segments)}, map[int64]string{}
	for _, c := range r.Changes {
		if text := a.make(c, r, w, after); text != "" {
			conflicts[c.ID] = text
		}
	}
	return after, conflicts
}

// make makes one change of a request, or returns its conflict. before is the world without the changes of the request.
func (a actions) make(c Change, r Request, before, after world) (conflict string) {
	p, err := a.read(c)
	if err != nil { // a limit has become lower since the change was added
		return apierror.From(err).Message
	}
	unchanged := a.seen(c, p, r.Environment, before) == c.Seen
	if c.IsOfSegment() {
		changed, exists := after.segments[p.segment]
		switch {
		case !exists:
			return fmt.Sprintf("There is no segment with the id %d.", p.segment)
		case !unchanged:
			return fmt.Sprintf("The segment %d has changed since the change was added.", p.segment)
		case c.Action == DeleteSegment:
			delete(after.segments, p.segment)
		default:
			segment.Change(&changed, p.body)
			after.segments[p.segment] = changed
		}
		return ""
	}
	f, exists := after.toggles[c.Feature]
	if !exists || f.Project != r.Project {
		return apierror.From(feature.NotFound(r.Project, c.Feature)).Message
	}
	if !unchanged {
		return fmt.Sprintf("What the change %s of the toggle %q depends on has changed since it was added.", c.Action, c.Feature)
	}
	edit, err := a.edit(c, r.Environment)
	if err == nil {
		f, err = edit(f)
	}
	if err != nil {
		return apierror.From(err).Message
	}
	after.toggles[c.Feature] = f
	return ""
}

// seen returns the digest of what the result of a change depends on: whether the toggle is archived, and the parts of its
// state, or the segment, that the people who approve have seen.
func (a actions) seen(c Change, p payload, environment string, w world) string {
	f := w.toggles[c.Feature]
	state := f.Environments[environment]
	parts := []any{f.Archived}
	switch c.Action {
	case UpdateEnabled:
		if p.body.Bool("enabled") {
			parts = append(parts, state.Strategies, w.constraints(state.Strategies))
		}
	case AddStrategy:
		parts = append(parts, w.constraintsOf(p.body.Ints("segments")))
	case UpdateStrategy:
		used := p.body.Ints("segments")
		if i := state.Strategy(p.id); i >= 0 {
			parts = append(parts, state.Strategies[i])
			if !p.body.Has("segments") { // they stay
				used = state.Strategies[i].Segments
			}
		}
		parts = append(parts, w.constraintsOf(used))
	case DeleteStrategy:
		if i := state.Strategy(p.id); i >= 0 {
			parts = append(parts, state.Strategies[i])
		}
	case ReorderStrategy:
		for _, s := range state.Strategies {
			parts = append(parts, s.ID, s.SortOrder)
		}
	case AddDependency, DeleteDependency:
		parts = append(parts, f.Dependency)
	case UpdateSegment, DeleteSegment:
		s := w.segments[p.segment]
		parts = []any{s.Name, s.Description, s.Project, s.Constraints}
	case ArchiveFeature:
	}
	return lambdahttp.ETag(parts)
}

// constraints returns the constraints of the segments that strategies use.
func (w world) constraints(strategies []toggle.Strategy) []any {
	var ids []int64
	for _, s := range strategies {
		ids = append(ids, s.Segments...)
	}
	return w.constraintsOf(ids)
}

// constraintsOf returns the constraints of segments.
func (w world) constraintsOf(ids []int64) (all []any) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		all = append(all, id, w.segments[id].Constraints)
	}
	return all
}

// places returns the places that the changes of a request concern: its own, and where what applications get changes.
func (e evaluation) places(r Request) map[protection.Place]bool {
	all := map[protection.Place]bool{r.Place(): true}
	for name, before := range e.toggles {
		for _, effect := range protection.EffectsOf(before, e.after.toggles[name]) {
			for _, place := range effect.Places() {
				all[place] = true
			}
		}
	}
	return all
}

// direct is what a direct operation requires: a permission in an environment of the project, in the project, or of the
// type root.
func (a Action) permission() access.Permission {
	return map[Action]access.Permission{
		UpdateEnabled:    access.UpdateEnvironment,
		AddStrategy:      access.CreateStrategy,
		UpdateStrategy:   access.UpdateStrategy,
		DeleteStrategy:   access.DeleteStrategy,
		ReorderStrategy:  access.UpdateStrategy,
		ArchiveFeature:   access.DeleteFeature,
		AddDependency:    access.UpdateDependency,
		DeleteDependency: access.UpdateDependency,
		UpdateSegment:    access.UpdateSegment,
		DeleteSegment:    access.DeleteSegment,
	}[a]
}

// mayDirectly reports whether the caller has the permissions that the direct operations of the changes require.
func mayDirectly(ctx context.Context, r Request, e evaluation) (bool, error) {
	project := e.projects[r.Project]
	for _, c := range r.Changes {
		if c.IsOfSegment() {
			if s := e.segments[c.Segment]; s.Project != nil && *s.Project == project.ID {
				may, err := access.May(ctx, project, "", access.UpdateProjectSegment)
				if err != nil {
					return false, err
				}
				if may {
					continue
				}
			}
		}
		may, err := access.May(ctx, project, r.Environment, c.Action.permission())
		if err != nil || !may {
			return false, err
		}
	}
	return true, nil
}
