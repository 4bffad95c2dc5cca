package featuresearch

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Count serves GET /api/admin/search/features/counts.
func Count(features *feature.Reader, searcher *Searcher) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		q := lambdahttp.NewQuery(r)
		project := oneOf(q, "project")
		if err := q.Err(); err != nil {
			return err
		}
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		stage, err := stages(r.Context(), features)
		if err != nil {
			return err
		}
		selects := func(id string) bool { return project.selects(id) && visible(id) }
		counts, err := searcher.Count(r.Context(), selects, stage)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, counts)
	}
}

// stages returns the function that decides the stage of a toggle now.
func stages(ctx context.Context, features *feature.Reader) (func(featuretable.Row) toggle.Stage, error) {
	projects, err := access.VisibleProjects(ctx)
	if err != nil {
		return nil, err
	}
	known, err := features.Resources(ctx)
	if err != nil {
		return nil, err
	}
	has := access.HaveEnvironments(projects)
	return func(row featuretable.Row) toggle.Stage {
		return row.Stage(known.Production(row.Toggle.Project, has), known.Now)
	}, nil
}

// States contains the number of toggles in each state, and in each stage. A toggle is in one state and in one stage.
type States struct {
	Active           int `json:"active"`
	Stale            int `json:"stale"`
	PotentiallyStale int `json:"potentiallyStale"`
	Archived         int `json:"archived"`

	Stages map[toggle.Stage]int `json:"stages"`
}

func newStates() *States {
	s := &States{Stages: map[toggle.Stage]int{}}
	for _, stage := range toggle.Stages() {
		s.Stages[stage] = 0
	}
	return s
}

func (s *States) add(f toggle.Feature, stage toggle.Stage) {
	if stage != "" {
		s.Stages[stage]++
	}
	switch {
	case f.Archived:
		s.Archived++
	case f.Stale:
		s.Stale++
	case f.PotentiallyStale:
		s.PotentiallyStale++
	default:
		s.Active++
	}
}

// TypeStates are the numbers of toggles of a type.
type TypeStates struct {
	Type string `json:"type"`
	States
}

// ProjectStates are the numbers of toggles of a project.
type ProjectStates struct {
	Project string `json:"project"`
	States
}

// Counts contains numbers of toggles: of all, of each type that toggles have, and of each project, by name.
type Counts struct {
	Total    States          `json:"total"`
	Types    []TypeStates    `json:"types"`
	Projects []ProjectStates `json:"projects"`
}

// Count counts the toggles of the selected projects, and with stage those in each stage. It reads the whole table,
// consistently.
func (s *Searcher) Count(
	ctx context.Context, selects func(project string) bool, stage func(featuretable.Row) toggle.Stage,
) (Counts, error) {
	all, err := featuretable.Scan(ctx, s.client, s.table,
		func(row featuretable.Row) bool { return selects(row.Toggle.Project) },
		featuretable.AttributeProject, featuretable.AttributeType, featuretable.AttributeArchived,
		featuretable.AttributeStale, featuretable.AttributePotentiallyStale, featuretable.AttributeLastSeen,
		featuretable.AttributeForAllSince, featuretable.AttributeKeepUntil)
	if err != nil {
		return Counts{}, err
	}
	total, types, projects := newStates(), states{}, states{}
	if selects(toggle.DefaultProject) {
		projects.of(toggle.DefaultProject)
	}
	for _, row := range all {
		f, in := row.Toggle, toggle.Stage("")
		if stage != nil {
			in = stage(row)
		}
		total.add(f, in)
		types.of(f.Type).add(f, in)
		projects.of(f.Project).add(f, in)
	}
	counts := Counts{Total: *total, Types: []TypeStates{}, Projects: []ProjectStates{}}
	for _, id := range slices.Sorted(maps.Keys(types)) {
		counts.Types = append(counts.Types, TypeStates{id, *types[id]})
	}
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		counts.Projects = append(counts.Projects, ProjectStates{name, *projects[name]})
	}
	return counts, nil
}

// states contains numbers of toggles by type or by project.
type states map[string]*States

func (s states) of(name string) *States {
	if s[name] == nil {
		s[name] = newStates()
	}
	return s[name]
}
