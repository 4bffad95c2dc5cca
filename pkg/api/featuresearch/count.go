package featuresearch

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Count serves GET /api/admin/search/features/counts.
func Count(searcher *Searcher) lambdahttp.HandlerFunc {
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
		counts, err := searcher.Count(r.Context(), func(id string) bool { return project.selects(id) && visible(id) })
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, counts)
	}
}

// States contains the number of toggles in each state. A toggle is in one of them.
type States struct {
	Active           int `json:"active"`
	Stale            int `json:"stale"`
	PotentiallyStale int `json:"potentiallyStale"`
	Archived         int `json:"archived"`
}

func (s *States) add(f toggle.Feature) {
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

// Count counts the toggles of the selected projects. It reads the whole table, consistently.
func (s *Searcher) Count(ctx context.Context, selects func(project string) bool) (Counts, error) {
	all, err := featuretable.Scan(ctx, s.client, s.table,
		func(row featuretable.Row) bool { return selects(row.Toggle.Project) },
		featuretable.AttributeProject, featuretable.AttributeType, featuretable.AttributeArchived,
		featuretable.AttributeStale, featuretable.AttributePotentiallyStale)
	if err != nil {
		return Counts{}, err
	}
	counts, types, projects := Counts{Types: []TypeStates{}, Projects: []ProjectStates{}}, states{}, states{}
	if selects(toggle.DefaultProject) {
		projects.of(toggle.DefaultProject)
	}
	for _, row := range all {
		f := row.Toggle
		counts.Total.add(f)
		types.of(f.Type).add(f)
		projects.of(f.Project).add(f)
	}
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
		s[name] = &States{}
	}
	return s[name]
}
