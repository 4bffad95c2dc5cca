package operator

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/platform/access"
)

// serviceAccountType is the accountType of a service account in the API.
const serviceAccountType = "Service Account"

// kindOf returns the kind of an account in the API.
func kindOf(accountType string) user.Kind {
	if accountType == serviceAccountType {
		return user.ServiceAccount
	}
	return user.Person
}

// Access is Operator.Access.
func (r *Remote) Access(ctx context.Context, id string) ([]Grant, error) {
	var shown struct {
		Users []struct {
			ID          int64   `json:"id"`
			Name        string  `json:"name"`
			AccountType string  `json:"accountType"`
			Roles       []int64 `json:"roles"`
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
		add(string(kindOf(u.AccountType)), u.ID, u.Name, u.Roles)
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
		var texts []string
		for _, id := range numbers(roles) {
			texts = append(texts, strconv.FormatInt(id, 10))
		}
		query.Set("roles", strings.Join(texts, ","))
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

// remoteGroup is a group in the API.
type remoteGroup struct {
	Group

	Users []struct {
		User struct {
			ID int64 `json:"id"`
		} `json:"user"`
	} `json:"users"`
}

// group returns the group as commands show it.
func (g remoteGroup) group() Group {
	shown := g.Group
	shown.Members = []int64{}
	for _, member := range g.Users {
		shown.Members = append(shown.Members, member.User.ID)
	}
	return shown
}

// Groups is Operator.Groups. The API lists groups without their members, so each is read.
func (r *Remote) Groups(ctx context.Context) ([]Group, error) {
	var list struct {
		Groups []Group `json:"groups"`
	}
	if err := r.get(ctx, nil, &list, "groups"); err != nil {
		return nil, err
	}
	return apiclient.Each(ctx, list.Groups, func(ctx context.Context, g Group) (Group, error) {
		return r.Group(ctx, g.ID)
	})
}

// Group is Operator.Group.
func (r *Remote) Group(ctx context.Context, id int64) (Group, error) {
	var g remoteGroup
	err := r.get(ctx, nil, &g, "groups", strconv.FormatInt(id, 10))
	return g.group(), err
}

// body returns the change as a body of the API.
func (c GroupChange) body(ctx context.Context, r *Remote) (map[string]any, error) {
	body := map[string]any{}
	if c.Name != nil {
		body["name"] = *c.Name
	}
	if c.Description != nil {
		if body["description"] = *c.Description; *c.Description == "" {
			body["description"] = nil
		}
	}
	if c.Mappings != nil {
		body["mappingsSSO"] = append([]string{}, *c.Mappings...)
	}
	if c.RootRole != nil {
		body["rootRole"] = nil
		if *c.RootRole != "" {
			role, err := r.RootRole(ctx, *c.RootRole)
			if err != nil {
				return nil, err
			}
			body["rootRole"] = int64(role.ID)
		}
	}
	return body, nil
}

// AddGroup is Operator.AddGroup.
func (r *Remote) AddGroup(ctx context.Context, change GroupChange) (Group, error) {
	body, err := change.body(ctx, r)
	if err != nil {
		return Group{}, err
	}
	var made remoteGroup
	err = r.send(ctx, http.MethodPost, body, &made, "groups")
	return made.group(), err
}

// UpdateGroup is Operator.UpdateGroup.
func (r *Remote) UpdateGroup(ctx context.Context, id int64, change GroupChange) (g Group, changed bool, err error) {
	body, err := change.body(ctx, r)
	if err != nil {
		return Group{}, false, err
	}
	return r.changeGroup(ctx, id, func(Group) map[string]any { return body })
}

// ChangeMembers is Operator.ChangeMembers.
func (r *Remote) ChangeMembers(ctx context.Context, id int64, add, remove []int64) (Group, error) {
	g, _, err := r.changeGroup(ctx, id, func(before Group) map[string]any {
		members := slices.DeleteFunc(slices.Concat(before.Members, add), func(member int64) bool {
			return slices.Contains(remove, member)
		})
		slices.Sort(members)
		users := []map[string]map[string]int64{}
		for _, member := range slices.Compact(members) {
			users = append(users, map[string]map[string]int64{"user": {"id": member}})
		}
		return map[string]any{"users": users}
	})
	return g, err
}

// changeGroup sends the changes that edit returns for a group, unless somebody else has changed the group since it was
// read. It reports whether the group has changed.
func (r *Remote) changeGroup(ctx context.Context, id int64, edit func(before Group) map[string]any) (
	g Group, changed bool, err error,
) {
	path := []string{"groups", strconv.FormatInt(id, 10)}
	var stored remoteGroup
	header, err := r.api.Call(ctx, http.MethodGet, path, nil, nil, nil, &stored)
	if err != nil {
		return Group{}, false, apiclient.Explain(err)
	}
	before := stored.group()
	body := edit(before)
	if body["name"] == nil {
		body["name"] = before.Name
	}
	match := map[string]string{"If-Match": header.Get("ETag")}
	if _, err := r.api.Call(ctx, http.MethodPut, path, nil, match, body, nil); err != nil {
		return Group{}, false, apiclient.Explain(err)
	}
	g, err = r.Group(ctx, id)
	return g, !reflect.DeepEqual(before, g), err
}

// DeleteGroup is Operator.DeleteGroup.
func (r *Remote) DeleteGroup(ctx context.Context, id int64) error {
	return r.send(ctx, http.MethodDelete, nil, nil, "groups", strconv.FormatInt(id, 10))
}

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
