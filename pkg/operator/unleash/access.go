package unleash

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/platform/access"
)

// foundAccount is an account in a list of Unleash.
type foundAccount struct {
	ID        int64
	Name      *string
	Username  *string
	Email     *string
	RootRole  int64
	CreatedAt *string
	Roles     []int64 // in a project
	RoleID    int64   // in a project, of versions that have one role for an account
}

// account returns the person.
func (a foundAccount) account(roles map[int64]string) transfer.Account {
	name := ""
	for _, text := range []*string{a.Name, a.Username, a.Email} {
		if text != nil {
			name = cmp.Or(name, *text)
		}
	}
	person := transfer.Account{
		Kind: user.Person, Name: cmp.Or(name, fmt.Sprint("account ", a.ID)), Role: roles[a.RootRole], CreatedAt: a.CreatedAt,
	}
	if a.Email != nil && *a.Email != "" {
		person.Email = a.Email
		return person
	}
	person.Name += " (without an e-mail address)" // so that it is nobody here
	return person
}

// reference returns how a document names the account.
func (a foundAccount) reference() string {
	person := a.account(nil)
	if person.Email != nil {
		return strings.ToLower(*person.Email)
	}
	return person.Name
}

func (a foundAccount) roleNames(names map[int64]string) []string {
	return roleNames(a.Roles, a.RoleID, names)
}

func roleNames(ids []int64, id int64, names map[int64]string) (all []string) {
	if len(ids) == 0 && id != 0 {
		ids = []int64{id}
	}
	for _, id := range ids {
		all = append(all, cmp.Or(names[id], fmt.Sprint("role ", id)))
	}
	return all
}

// foundGroup is a group in a list of Unleash.
type foundGroup struct {
	Name        string
	Description *string
	MappingsSSO []string
	RootRole    *int64
	CreatedAt   *string
	Users       []struct{ User foundAccount }
	Roles       []int64 // in a project
	RoleID      int64   // in a project, of versions that have one role for a group
}

// foundRole is a role in a list of Unleash.
type foundRole struct {
	ID                      int64
	Name, Description, Type string
	Permissions             []struct {
		Name        access.Permission
		Environment *string
	}
}

// access reads roles, people, groups, and who has which roles in the projects of a document. What Unleash does not have
// is left out. What the token may not read is added to the others.
func (r *client) access(ctx context.Context, d *transfer.Document) error {
	roles, err := r.roles(ctx, d)
	if err != nil {
		return err
	}
	var people struct {
		Users     []foundAccount
		RootRoles []foundRole // the only list of roles that open-source versions have
	}
	if err := r.optional(ctx, d, "people", "user-admin", &people); err != nil {
		return err
	}
	for _, found := range people.RootRoles {
		roles[found.ID] = found.Name
	}
	for _, a := range people.Users {
		d.Accounts = append(d.Accounts, a.account(roles))
	}
	var groups struct{ Groups []foundGroup }
	if err := r.optional(ctx, d, "groups", "groups", &groups); err != nil {
		return err
	}
	for _, g := range groups.Groups {
		next := transfer.Group{Name: g.Name, Description: g.Description, Mappings: g.MappingsSSO, CreatedAt: g.CreatedAt}
		noEmptyDescription(&next.Description)
		if g.RootRole != nil && *g.RootRole != 0 {
			next.RootRole = new(cmp.Or(roles[*g.RootRole], fmt.Sprint("role ", *g.RootRole)))
		}
		for _, member := range g.Users {
			next.Members = append(next.Members, member.User.reference())
		}
		d.Groups = append(d.Groups, next)
	}
	for i := range d.Projects {
		r.Progress("reading access to projects", i, len(d.Projects))
		p := &d.Projects[i]
		var found struct {
			Users  []foundAccount
			Groups []foundGroup
		}
		path := "projects/" + url.PathEscape(p.ID) + "/access"
		if err := r.optional(ctx, d, "access to the project "+p.ID, path, &found); err != nil {
			return err
		}
		for _, a := range found.Users {
			p.Access = append(p.Access, transfer.Grant{Account: a.reference(), Roles: a.roleNames(roles)})
		}
		for _, g := range found.Groups {
			p.Access = append(p.Access, transfer.Grant{Group: g.Name, Roles: roleNames(g.Roles, g.RoleID, roles)})
		}
	}
	return nil
}

// roles adds the custom roles to a document, and returns the names of all roles by their ids.
func (r *client) roles(ctx context.Context, d *transfer.Document) (map[int64]string, error) {
	names := map[int64]string{}
	var list struct{ Roles []foundRole }
	if err := r.optional(ctx, d, "custom roles", "roles", &list); err != nil {
		return nil, err
	}
	for _, found := range list.Roles {
		names[found.ID] = found.Name
		t := access.RoleType(found.Type)
		if t != access.CustomType && t != access.RootCustomType {
			continue
		}
		var full foundRole
		if err := r.get(ctx, fmt.Sprint("api/admin/roles/", found.ID), nil, &full); err != nil {
			return nil, err
		}
		next := transfer.Role{Name: found.Name, Type: t, Description: found.Description}
		for _, p := range full.Permissions {
			permission := transfer.Permission{Name: p.Name}
			if p.Environment != nil {
				permission.Environment = *p.Environment
			}
			next.Permissions = append(next.Permissions, permission)
		}
		d.Roles = append(d.Roles, next)
	}
	return names, nil
}

// optional reads a list. If Unleash does not have it, into stays as it is. If the token may not read it, the kind is
// added to the others, with an unknown number.
func (r *client) optional(ctx context.Context, d *transfer.Document, kind, path string, into any) error {
	err := r.get(ctx, "api/admin/"+path, nil, into)
	switch {
	case hasStatus(err, http.StatusNotFound, http.StatusOK): // a wrong path is 404, or 200 and a page
		return nil
	case hasStatus(err, http.StatusForbidden):
		d.Others = append(d.Others, transfer.Other{Kind: kind})
		return nil
	}
	return err
}
