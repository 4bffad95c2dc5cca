package project

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// listVersion is the version of the schemas; there is only one (api/openapi.yaml).
const listVersion = 1

// List serves GET /api/admin/projects: the projects that the caller sees, without archived ones or, with archived=true,
// only these.
func List(projects *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		query := lambdahttp.NewQuery(r)
		archived := query.OneOf("archived", "false", "true") == "true"
		if err := query.Err(); err != nil {
			return err
		}
		visible, err := access.VisibleProjects(r.Context())
		if err != nil {
			return err
		}
		counts, err := projects.count(r.Context())
		if err != nil {
			return err
		}
		people, err := projects.readDirectory(r.Context(), visible)
		if err != nil {
			return err
		}
		list := []response{}
		for _, p := range visible {
			if (p.ArchivedAt != nil) == archived {
				list = append(list, newResponse(p, counts[p.ID], people))
			}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version  int        `json:"version"`
			Projects []response `json:"projects"`
		}{listVersion, list})
	}
}

func newResponse(p *access.Project, n counts, people directory) response {
	shown := response{
		ID:                p.ID,
		Name:              p.Name,
		Mode:              p.Mode,
		DefaultStickiness: p.DefaultStickiness,
		FeatureCount:      n.active,
		StaleCount:        n.stale,
		PotentiallyStale:  n.potentiallyStale,
		MemberCount:       people.members(p),
		Owners:            people.owners(p),
		CreatedAt:         formatted(p.CreatedAt),
		UpdatedAt:         formatted(p.UpdatedAt),
		ArchivedAt:        formatted(p.ArchivedAt),
	}
	if p.Description != nil {
		shown.Description = *p.Description
	}
	return shown
}
