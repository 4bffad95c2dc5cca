package project

import (
	"context"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// listVersion is the version of the schemas; there is only one (api/openapi.yaml).
const listVersion = 1

// List serves GET /api/admin/projects: the projects that the caller sees, without archived ones or, with archived=true,
// only these, or, with archived=all, both. With users, groups or roles, it serves those in which one of these has one of
// these roles, and says who has which.
func List(projects *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		query := lambdahttp.NewQuery(r)
		archived := query.OneOf("archived", "false", "true", "all")
		if err := query.Err(); err != nil {
			return err
		}
		filter, err := grantFilterOf(r)
		if err != nil {
			return err
		}
		listed, err := access.VisibleProjects(r.Context())
		if err != nil {
			return err
		}
		if archived != "all" {
			listed = slices.DeleteFunc(listed, func(p *access.Project) bool {
				return (p.ArchivedAt != nil) != (archived == "true")
			})
		}
		var shown []response
		if filter.isSet() {
			shown, err = projects.listGrants(r.Context(), listed, filter)
		} else {
			shown, err = projects.listContents(r.Context(), listed)
		}
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version  int        `json:"version"`
			Projects []response `json:"projects"`
		}{listVersion, shown})
	}
}

// listContents returns projects with what they have. It reads the tables at the same time.
func (s *Store) listContents(ctx context.Context, listed []*access.Project) ([]response, error) {
	var numbers map[string]counts
	var people directory
	var favorites favorite.Favorites
	var reads errgroup.Group
	reads.Go(func() (err error) {
		numbers, err = s.count(ctx)
		return err
	})
	reads.Go(func() (err error) {
		people, err = s.readDirectory(ctx, listed)
		return err
	})
	reads.Go(func() (err error) {
		favorites, err = s.favorites.Get(ctx)
		return err
	})
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	shown := make([]response, len(listed))
	for i, p := range listed {
		n := numbers[p.ID]
		shown[i] = newResponse(p, favorites)
		shown[i].contentsResponse = &contentsResponse{
			n.active, n.stale, n.potentiallyStale, people.members(p), people.owners(p),
		}
	}
	return shown, nil
}

// listGrants returns the projects in which a filter selects roles, with these.
func (s *Store) listGrants(ctx context.Context, listed []*access.Project, filter grantFilter) ([]response, error) {
	groups, err := s.groups(ctx)
	if err != nil {
		return nil, err
	}
	accounts, err := s.users.Accounts(ctx, filter.accounts(listed))
	if err != nil {
		return nil, err
	}
	favorites, err := s.favorites.Get(ctx)
	if err != nil {
		return nil, err
	}
	shown := []response{}
	for _, p := range listed {
		has := newGrantsResponse(filter.of(p), accounts, groups)
		if len(has.Users)+len(has.Groups) > 0 {
			r := newResponse(p, favorites)
			r.Access = &has
			shown = append(shown, r)
		}
	}
	return shown, nil
}

func newResponse(p *access.Project, favorites favorite.Favorites) response {
	shown := response{
		Favorite:          favorites.Has(favorite.Project(p)),
		ID:                p.ID,
		Name:              p.Name,
		Mode:              p.Mode,
		DefaultStickiness: p.DefaultStickiness,
		CreatedAt:         formatted(p.CreatedAt),
		UpdatedAt:         formatted(p.UpdatedAt),
		ArchivedAt:        formatted(p.ArchivedAt),
	}
	if p.Description != nil {
		shown.Description = *p.Description
	}
	return shown
}

// grantFilter selects roles in projects by who has them, and by the roles. Without accounts and groups, it selects those
// of all; without roles, all roles.
type grantFilter struct {
	users, groups []int64
	roles         []access.Role
}

// grantFilterOf returns the filter in the query of a request.
func grantFilterOf(r *http.Request) (f grantFilter, err error) {
	if f.users, err = user.QueryIDs[int64](r, "users", "people and service accounts"); err != nil {
		return grantFilter{}, err
	}
	if f.groups, err = user.QueryIDs[int64](r, "groups", "groups"); err != nil {
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
	for _, p := range projects {
		for id, roles := range f.of(p).users {
			if len(roles) > 0 {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
