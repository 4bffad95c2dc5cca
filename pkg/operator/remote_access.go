package operator

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/platform/access"
)

// Access is Operator.Access.
func (r *Remote) Access(ctx context.Context, id string) ([]Grant, error) {
	var shown struct {
		Users []struct {
			user.Response

			Roles []int64 `json:"roles"`
		} `json:"users"`
		Groups []struct {
			ID    int64   `json:"id"`
			Name  string  `json:"name"`
			Roles []int64 `json:"roles"`
		} `json:"groups"`
		Roles []GrantRole `json:"roles"`
	}
	if err := r.get(ctx, nil, &shown, "projects", id, "access"); err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for _, role := range shown.Roles {
		names[role.ID] = role.Name
	}
	grants := []Grant{}
	add := func(kind string, id int64, name string, roles []int64) {
		g := Grant{kind, id, name, []GrantRole{}}
		for _, role := range roles {
			g.Roles = append(g.Roles, GrantRole{role, cmp.Or(names[role], access.Role(role).String())})
		}
		grants = append(grants, g)
	}
	for _, u := range shown.Users {
		add(string(u.Kind()), u.ID, u.Name, u.Roles)
	}
	for _, g := range shown.Groups {
		add(kindGroup, g.ID, g.Name, g.Roles)
	}
	return grants, nil
}

// ChangeAccess is Operator.ChangeAccess. Roles are taken with one request for each account and group.
func (r *Remote) ChangeAccess(ctx context.Context, id string, c AccessChange) (
	grants []Grant, changed bool, err error,
) {
	all, err := r.listRoles(ctx)
	if err != nil {
		return nil, false, err
	}
	var roles []access.Role
	if len(c.Roles) > 0 {
		if roles, err = findProjectRoles(all, c.Roles); err != nil {
			return nil, false, err
		}
	}
	before, err := r.Access(ctx, id)
	if err != nil {
		return nil, false, err
	}
	if c.Revoke {
		err = r.revokeAccess(ctx, id, c, roles)
	} else {
		body := map[string]any{"roles": numbers(roles), "users": numbers(c.Accounts), "groups": numbers(c.Groups)}
		err = r.send(ctx, http.MethodPost, body, nil, "projects", id, "access")
	}
	if err != nil {
		return nil, false, err
	}
	grants, err = r.Access(ctx, id)
	return grants, !reflect.DeepEqual(before, grants), err
}

// numbers returns ids in the form of a body, which is not null.
func numbers[T ~int64](ids []T) []int64 {
	all := make([]int64, len(ids))
	for i, id := range ids {
		all[i] = int64(id)
	}
	return all
}

func (r *Remote) revokeAccess(ctx context.Context, project string, c AccessChange, roles []access.Role) error {
	query := url.Values{}
	if len(roles) > 0 {
		query.Set("roles", apiclient.IDs(numbers(roles)))
	}
	for kind, ids := range map[string][]int64{"users": c.Accounts, "groups": c.Groups} {
		for _, id := range ids {
			path := []string{"projects", project, kind, strconv.FormatInt(id, 10), "roles"}
			if err := r.call(ctx, http.MethodDelete, path, query, nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
