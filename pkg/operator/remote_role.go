package operator

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/platform/access"
)

// remoteRole is a role in the API.
type remoteRole struct {
	Role

	Permissions []remotePermission `json:"permissions"`
}

// remotePermission is a permission of a role in the API.
type remotePermission struct {
	Name        string `json:"name"`
	Environment string `json:"environment,omitempty"`
}

// role returns the role as commands show it.
func (r remoteRole) role() Role {
	shown := r.Role
	shown.Permissions = []string{}
	for _, p := range r.Permissions {
		text := p.Name
		if p.Environment != "" {
			text += ":" + p.Environment
		}
		shown.Permissions = append(shown.Permissions, text)
	}
	return shown
}

// listRoles returns all roles without their permissions, ordered by id.
func (r *Remote) listRoles(ctx context.Context) (all []access.RoleDefinition, err error) {
	var list struct {
		Roles []Role `json:"roles"`
	}
	err = r.get(ctx, nil, &list, "roles")
	for _, role := range list.Roles {
		all = append(all, access.RoleDefinition{ID: access.Role(role.ID), Name: role.Name, Type: role.Type})
	}
	return all, err
}

// Roles is Operator.Roles. The API lists roles without their permissions, so each is read.
func (r *Remote) Roles(ctx context.Context) ([]Role, error) {
	all, err := r.listRoles(ctx)
	if err != nil {
		return nil, err
	}
	return apiclient.Each(ctx, all, func(ctx context.Context, d access.RoleDefinition) (Role, error) {
		return r.Role(ctx, int64(d.ID))
	})
}

// Role is Operator.Role.
func (r *Remote) Role(ctx context.Context, id int64) (Role, error) {
	var shown remoteRole
	err := r.get(ctx, nil, &shown, "roles", strconv.FormatInt(id, 10))
	return shown.role(), err
}

// body returns the change as a body of the API.
func (c RoleChange) body() map[string]any {
	body := map[string]any{}
	for name, value := range map[string]*string{"name": c.Name, "description": c.Description} {
		if value != nil {
			body[name] = *value
		}
	}
	if c.Permissions != nil {
		permissions := []remotePermission{}
		for _, text := range *c.Permissions {
			name, environment, _ := strings.Cut(text, ":")
			permissions = append(permissions, remotePermission{name, environment})
		}
		body["permissions"] = permissions
	}
	return body
}

// CreateRole is Operator.CreateRole.
func (r *Remote) CreateRole(ctx context.Context, t access.RoleType, change RoleChange) (Role, error) {
	body := change.body()
	body["type"] = t
	var made struct {
		Role Role `json:"roles"`
	}
	if err := r.send(ctx, http.MethodPost, body, &made, "roles"); err != nil {
		return Role{}, err
	}
	return r.Role(ctx, made.Role.ID)
}

// UpdateRole is Operator.UpdateRole.
func (r *Remote) UpdateRole(ctx context.Context, id int64, change RoleChange) (shown Role, changed bool, err error) {
	before, err := r.Role(ctx, id)
	if err != nil {
		return Role{}, false, err
	}
	body := change.body()
	if change.Name == nil {
		body["name"] = before.Name
	}
	if err := r.send(ctx, http.MethodPut, body, nil, "roles", strconv.FormatInt(id, 10)); err != nil {
		return Role{}, false, err
	}
	shown, err = r.Role(ctx, id)
	return shown, !reflect.DeepEqual(before, shown), err
}

// DeleteRole is Operator.DeleteRole.
func (r *Remote) DeleteRole(ctx context.Context, id int64) error {
	return r.send(ctx, http.MethodDelete, nil, nil, "roles", strconv.FormatInt(id, 10))
}

// rootRoles returns the root roles.
func (r *Remote) rootRoles(ctx context.Context) ([]access.RoleDefinition, error) {
	all, err := r.listRoles(ctx)
	return slices.DeleteFunc(all, func(d access.RoleDefinition) bool {
		return d.Type != access.RootType && d.Type != access.RootCustomType
	}), err
}

// RootRole is Operator.RootRole.
func (r *Remote) RootRole(ctx context.Context, text string) (access.RoleDefinition, error) {
	all, err := r.rootRoles(ctx)
	if err != nil {
		return access.RoleDefinition{}, err
	}
	return findRootRole(all, text)
}

// RootRoleNames is Operator.RootRoleNames.
func (r *Remote) RootRoleNames(ctx context.Context) (map[access.Role]string, error) {
	all, err := r.rootRoles(ctx)
	return namesOf(all), err
}
