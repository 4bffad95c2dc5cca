package main

import (
	"strconv"
	"strings"

	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/platform/access"
)

type groupsCmd struct {
	apiOptions

	List    listGroupsCmd    `cmd:"" help:"List the groups."`
	Add     addGroupCmd      `cmd:"" help:"Add a group."`
	Update  updateGroupCmd   `cmd:"" help:"Change the given properties of a group."`
	Members changeMembersCmd `cmd:"" help:"Add accounts to a group, or remove them."`
	Delete  deleteGroupCmd   `cmd:"" help:"Delete a group: its members lose its roles from then on."`
}

type (
	listGroupsCmd struct{}
	addGroupCmd   struct {
		Name        string   `arg:"" help:"Name of the group. It must be unique."`
		Description string   `placeholder:"TEXT" help:"What the group is for."`
		Role        string   `placeholder:"ROLE" help:"Name or ID of a root role that the members have besides their own."`
		Mapping     []string `sep:"none" placeholder:"VALUE" help:"Value of the claim of ID tokens whose people are members. Repeat for more."`
	}
	updateGroupCmd struct {
		groupID
		Name          *string  `help:"New name of the group."`
		Description   *string  `placeholder:"TEXT" xor:"description" help:"What the group is for."`
		NoDescription bool     `xor:"description" help:"Remove the description."`
		Role          *string  `placeholder:"ROLE" xor:"role" help:"Name or ID of a root role that the members have besides their own."`
		NoRole        bool     `xor:"role" help:"The members have no root role by the group."`
		Mapping       []string `sep:"none" placeholder:"VALUE" xor:"mappings" help:"Value of the claim of ID tokens whose people are members. Repeat for more. Replaces all."`
		NoMappings    bool     `xor:"mappings" help:"Nobody is a member by an ID token."`
	}
	changeMembersCmd struct {
		groupID
		Add    []id `placeholder:"ID" help:"Account to add. Repeat for more, or separate IDs by commas."`
		Remove []id `placeholder:"ID" help:"Account to remove. Repeat for more, or separate IDs by commas."`
	}
	deleteGroupCmd struct{ groupID }
	groupID        struct {
		ID id `arg:"" help:"ID of the group, as list shows it."`
	}
)

type rolesCmd struct {
	apiOptions

	List   listRolesCmd  `cmd:"" help:"List the roles."`
	Show   showRoleCmd   `cmd:"" help:"Print a role with its permissions."`
	Create createRoleCmd `cmd:"" help:"Create a custom role."`
	Update updateRoleCmd `cmd:"" help:"Change the given properties of a custom role."`
	Delete deleteRoleCmd `cmd:"" help:"Delete a custom role that nobody has."`
}

type (
	listRolesCmd  struct{}
	showRoleCmd   struct{ roleID }
	deleteRoleCmd struct{ roleID }
	createRoleCmd struct {
		Name        string   `arg:"" help:"Name of the role. It must be unique."`
		Root        bool     `help:"A root role of accounts and groups. Without it, a role in projects."`
		Description *string  `placeholder:"TEXT" help:"What the role is for."`
		Permission  []string `sep:"none" placeholder:"NAME" help:"Permission of the role, in an environment NAME:ENVIRONMENT. Repeat for more."`
	}
	updateRoleCmd struct {
		roleID
		Name          *string  `help:"New name of the role."`
		Description   *string  `placeholder:"TEXT" help:"What the role is for."`
		Permission    []string `sep:"none" placeholder:"NAME" xor:"permissions" help:"Permission of the role, in an environment NAME:ENVIRONMENT. Repeat for more. Replaces all."`
		NoPermissions bool     `xor:"permissions" help:"The role has no permissions."`
	}
	roleID struct {
		ID id `arg:"" help:"ID of the role, as list shows it."`
	}
)

func (listGroupsCmd) Run(s *session, o manager) error {
	groups, err := o.Groups(s.step())
	if err != nil {
		return err
	}
	type group = operator.Group
	return printList(s, groups, []column[group]{
		{name: "ID", cell: func(g group) string { return strconv.FormatInt(g.ID, 10) }},
		{name: "NAME", cell: func(g group) string { return g.Name }, cut: cutLast, isName: true},
		{name: "ROLE", cell: func(g group) string {
			if g.RootRole == nil {
				return ""
			}
			return strconv.FormatInt(*g.RootRole, 10)
		}},
		{name: "MEMBERS", cell: func(g group) string { return strconv.Itoa(len(g.Members)) }},
		{name: "MAPPINGS", cell: func(g group) string { return strings.Join(g.Mappings, ", ") }, cut: cutLast},
	})
}

func (c *addGroupCmd) Run(s *session, o manager) error {
	g, err := o.AddGroup(s.step(), operator.GroupChange{
		Name: &c.Name, Description: &c.Description, RootRole: &c.Role, Mappings: &c.Mapping,
	})
	if err != nil {
		return err
	}
	return s.result(g, "added the group %s with the id %d", g.Name, g.ID)
}

func (c *updateGroupCmd) Run(s *session, o manager) error {
	change := operator.GroupChange{Name: c.Name, Description: c.Description, RootRole: c.Role}
	if c.NoDescription {
		change.Description = new("")
	}
	if c.NoRole {
		change.RootRole = new("")
	}
	if len(c.Mapping) > 0 || c.NoMappings {
		change.Mappings = &c.Mapping
	}
	g, changed, err := o.UpdateGroup(s.step(), int64(c.ID), change)
	if err != nil {
		return err
	}
	return s.result(struct {
		operator.Group

		Changed bool `json:"changed"`
	}{g, changed}, "%s the group %s (%d)", changeVerb(changed), g.Name, g.ID)
}

// changeVerb begins the result of a command that changes given properties.
func changeVerb(changed bool) string {
	if changed {
		return "changed"
	}
	return "not changed:"
}

func (c *changeMembersCmd) Run(s *session, o manager) error {
	g, err := o.ChangeMembers(s.step(), int64(c.ID), numbers(c.Add), numbers(c.Remove))
	if err != nil {
		return err
	}
	return s.result(g, "the group %s (%d) has %s", g.Name, g.ID, count(len(g.Members), "member"))
}

func numbers(ids []id) []int64 {
	all := make([]int64, len(ids))
	for i, n := range ids {
		all[i] = int64(n)
	}
	return all
}

func (c *deleteGroupCmd) Run(s *session, o manager) error {
	g, err := o.Group(s.step(), int64(c.ID))
	if err != nil {
		return err
	}
	if err := s.confirm("Delete the group %s (%d) with %s?", g.Name, g.ID, count(len(g.Members), "member")); err != nil {
		return err
	}
	if err := o.DeleteGroup(s.step(), g.ID); err != nil {
		return err
	}
	return s.result(map[string]operator.Group{"deleted": g}, "deleted the group %s (%d)", g.Name, g.ID)
}

func (listRolesCmd) Run(s *session, o manager) error {
	roles, err := o.Roles(s.step())
	if err != nil {
		return err
	}
	type role = operator.Role
	return printList(s, roles, []column[role]{
		{name: "ID", cell: func(r role) string { return strconv.FormatInt(r.ID, 10) }},
		{name: "NAME", cell: func(r role) string { return r.Name }, cut: cutLast, isName: true},
		{name: "TYPE", cell: func(r role) string { return string(r.Type) }},
		{name: "PERMISSIONS", cell: func(r role) string { return strconv.Itoa(len(r.Permissions)) }},
		{name: "DESCRIPTION", cell: func(r role) string { return r.Description }, cut: cutLast},
	})
}

func (c *showRoleCmd) Run(s *session, o manager) error {
	r, err := o.Role(s.step(), int64(c.ID))
	if err != nil {
		return err
	}
	return s.result(r, "%s (%d, %s): %s", r.Name, r.ID, r.Type, strings.Join(r.Permissions, ", "))
}

func (c *createRoleCmd) Run(s *session, o manager) error {
	t := access.CustomType
	if c.Root {
		t = access.RootCustomType
	}
	r, err := o.CreateRole(s.step(), t, operator.RoleChange{
		Name: &c.Name, Description: c.Description, Permissions: &c.Permission,
	})
	if err != nil {
		return err
	}
	return s.result(r, "created the role %s with the id %d", r.Name, r.ID)
}

func (c *updateRoleCmd) Run(s *session, o manager) error {
	change := operator.RoleChange{Name: c.Name, Description: c.Description}
	if len(c.Permission) > 0 || c.NoPermissions {
		change.Permissions = &c.Permission
	}
	r, changed, err := o.UpdateRole(s.step(), int64(c.ID), change)
	if err != nil {
		return err
	}
	return s.result(struct {
		operator.Role

		Changed bool `json:"changed"`
	}{r, changed}, "%s the role %s (%d)", changeVerb(changed), r.Name, r.ID)
}

func (c *deleteRoleCmd) Run(s *session, o manager) error {
	r, err := o.Role(s.step(), int64(c.ID))
	if err != nil {
		return err
	}
	if err := s.confirm("Delete the role %s (%d)?", r.Name, r.ID); err != nil {
		return err
	}
	if err := o.DeleteRole(s.step(), r.ID); err != nil {
		return err
	}
	return s.result(map[string]operator.Role{"deleted": r}, "deleted the role %s (%d)", r.Name, r.ID)
}
