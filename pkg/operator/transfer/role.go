package transfer

import (
	"context"
	"strings"

	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
)

// Role is a custom role.
type Role struct {
	Name        string          `json:"name"`
	Type        access.RoleType `json:"type"`
	Description string          `json:"description"`
	Permissions []Permission    `json:"permissions"`
}

// Permission is a permission of a role.
type Permission struct {
	Name        access.Permission `json:"name"`
	Environment string            `json:"environment,omitempty"`
}

func fromRole(r access.RoleDefinition) Role {
	shown := Role{Name: r.Name, Type: r.Type, Description: r.Description, Permissions: []Permission{}}
	for _, p := range r.Permissions {
		shown.Permissions = append(shown.Permissions, Permission{p.Permission, p.Environment})
	}
	return shown
}

func (r Role) definition() access.RoleDefinition {
	stored := access.RoleDefinition{Name: r.Name, Type: r.Type, Description: r.Description}
	for _, p := range r.Permissions {
		stored.Permissions = append(stored.Permissions, access.RolePermission{Permission: p.Name, Environment: p.Environment})
	}
	return stored
}

// prepareRole never changes a role that exists. Permissions that a role cannot have here are left out.
func prepareRole(r Role, old *Role, environments map[string]Environment) (Role, remarks, error) {
	var about remarks
	about.cut(&r.Description, "its description", maxDescription)
	next := Role{Name: strings.TrimSpace(r.Name), Type: r.Type, Description: r.Description, Permissions: []Permission{}}
	for _, p := range r.Permissions {
		one := Role{Name: "role", Type: r.Type, Permissions: []Permission{p}}.definition()
		_, exists := environments[p.Environment]
		switch err := role.Check(&one); {
		case r.Type != access.CustomType && r.Type != access.RootCustomType: // which the check of the role reports
		case err != nil:
			about.note("its permission %s was left out: %v", string(p.Name), err)
		case p.Environment != "" && !exists:
			about.note("its permission %s was left out: the environment %.100q does not exist here", string(p.Name), p.Environment)
		default:
			next.Permissions = append(next.Permissions, p)
		}
	}
	definition := next.definition()
	if err := role.Check(&definition); err != nil {
		return next, about, err
	}
	next = fromRole(definition)
	if old == nil {
		return next, about, nil
	}
	properties, err := differing(next, *old)
	if len(properties) > 0 {
		about.note("it exists with other properties, and was not changed: %s", strings.Join(properties, ", "))
	}
	return *old, about, err
}

// maxDescription is the maximum number of characters of the description of a role or a group.
const maxDescription = 1000

// readRole is merge.read of roles.
func (i Installation) readRole(ctx context.Context, name string) (Role, error) {
	all, err := i.Roles.List(ctx)
	if err != nil {
		return Role{}, err
	}
	found, err := named(all, name, func(r access.RoleDefinition) string { return r.Name })
	if err == nil && !found.ID.IsCustom() {
		err = apierror.New(apierror.Conflict, "A role of every installation has the name.")
	}
	return fromRole(found), err
}
