package project

import (
	"net/http"
	"slices"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// listVersion is the version of the schemas; there is only one (api/openapi.yaml).
const listVersion = 1

// List serves GET /api/admin/projects: the projects that the caller sees, without archived ones or, with archived=true,
// only these. With users, groups or roles, it serves those in which one of these has one of these roles, and says who has
// which.
func List(projects *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		query := lambdahttp.NewQuery(r)
		archived := query.OneOf("archived", "false", "true") == "true"
		if err := query.Err(); err != nil {
			return err
		}
		filter, err := grantFilterOf(r)
		if err != nil {
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
		accounts, err := projects.users.Accounts(r.Context(), filter.accounts(visible))
		if err != nil {
			return err
		}
		list := []response{}
		for _, p := range visible {
			if (p.ArchivedAt != nil) != archived {
				continue
			}
			shown := newResponse(p, counts[p.ID], people)
			if filter.isSet() {
				shown.Access = new(newGrantsResponse(filter.of(p), accounts, people.groups))
				if len(shown.Access.Users)+len(shown.Access.Groups) == 0 {
					continue
				}
			}
			list = append(list, shown)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version  int        `json:"version"`
			Projects []response `json:"projects"`
		}{listVersion, list})
	}
}

// grantFilter selects roles in projects by who has them, and by the roles. Without accounts and groups, it selects those
// of all; without roles, all roles.
type grantFilter struct {
	users, groups []int64
	roles         []access.Role
}

// grantFilterOf returns the filter in the query of a request.
func grantFilterOf(r *http.Request) (f grantFilter, err error) {
	if f.users, err = idsOf[int64](r, "users", "people and service accounts"); err != nil {
		return grantFilter{}, err
	}
	if f.groups, err = idsOf[int64](r, "groups", "groups"); err != nil {
		return grantFilter{}, err
	}
	f.roles, err = rolesOf(r)
	return f, err
}

func (f grantFilter) isSet() bool { return len(f.users)+len(f.groups)+len(f.roles) > 0 }

// of returns the selected roles in a project.
func (f grantFilter) of(p *access.Project) grants {
	ofAll := len(f.users)+len(f.groups) == 0
	selected := func(all map[int64][]access.Role, ids []int64) map[int64][]access.Role {
		found := map[int64][]access.Role{}
		for id, roles := range all {
			if !ofAll && !slices.Contains(ids, id) {
				continue
			}
			found[id] = slices.DeleteFunc(slices.Clone(roles), func(r access.Role) bool {
				return len(f.roles) > 0 && !slices.Contains(f.roles, r)
			})
		}
		return found
	}
	return grants{selected(p.Users, f.users), selected(p.Groups, f.groups)}
}

// accounts returns the ids of the accounts with a selected role in one of the projects.
func (f grantFilter) accounts(projects []*access.Project) (ids []int64) {
	if !f.isSet() {
		return nil
	}
	for _, p := range projects {
		for id, roles := range f.of(p).users {
			if len(roles) > 0 {
				ids = append(ids, id)
			}
		}
	}
	return ids
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
