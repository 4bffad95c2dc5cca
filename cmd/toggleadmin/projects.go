package main

import (
	"fmt"
	"strconv"
	"strings"

	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
)

type projectsCmd struct {
	apiOptions

	List    listProjectsCmd   `cmd:"" help:"List the projects."`
	Show    showProjectCmd    `cmd:"" help:"Print all properties of a project."`
	Create  createProjectCmd  `cmd:"" help:"Create a project."`
	Update  updateProjectCmd  `cmd:"" help:"Change the given properties of a project."`
	Archive archiveProjectCmd `cmd:"" help:"Archive a project whose toggles are all archived."`
	Revive  reviveProjectCmd  `cmd:"" help:"Revive an archived project."`
	Delete  deleteProjectCmd  `cmd:"" help:"Delete a project without toggles, segments and client tokens."`
}

type (
	listProjectsCmd struct{}
	showProjectCmd  struct{ projectID }

	createProjectCmd struct {
		projectID

		Name        *string  `help:"Name of the project. Default: the ID."`
		Description *string  `placeholder:"TEXT" help:"What the project is for."`
		Stickiness  *string  `placeholder:"FIELD" help:"Stickiness of new strategies in the console. Default: default."`
		Mode        *string  `enum:"open,protected,private" placeholder:"MODE" help:"open, protected or private. A protected or private project needs an Owner. Default: open."`
		Owner       []id     `placeholder:"ID" help:"Person or service account with the role Owner. Repeat for more, or separate IDs by commas."`
		OwnerGroup  []id     `placeholder:"ID" help:"Group with the role Owner. Repeat for more, or separate IDs by commas."`
		Environment []string `sep:"none" placeholder:"NAME" help:"Environment in which toggles of the project can be switched. Repeat for more. Default: all."`
		naming
	}
	updateProjectCmd struct {
		projectID

		Name              *string  `help:"New name of the project."`
		Description       *string  `placeholder:"TEXT" xor:"description" help:"What the project is for."`
		NoDescription     bool     `xor:"description" help:"Remove the description."`
		Stickiness        *string  `placeholder:"FIELD" help:"Stickiness of new strategies in the console."`
		Mode              *string  `enum:"open,protected,private" placeholder:"MODE" help:"open, protected or private. A protected or private project has an Owner."`
		AddEnvironment    []string `sep:"none" placeholder:"NAME" help:"Environment in which toggles of the project can be switched from now on. Repeat for more."`
		RemoveEnvironment []string `sep:"none" placeholder:"NAME" help:"Environment in which toggles of the project cannot be switched any more. Repeat for more."`
		naming
		NoNaming bool `help:"Remove the pattern of names, with its example and description."`
	}
	archiveProjectCmd struct{ projectID }
	reviveProjectCmd  struct{ projectID }
	deleteProjectCmd  struct{ projectID }
	projectID         struct {
		ID string `arg:"" help:"ID of the project."`
	}
	// naming is how the toggles of a project are named.
	naming struct {
		NamingPattern     string `placeholder:"PATTERN" help:"Regular expression (RE2) that matches the whole name of each new toggle."`
		NamingExample     string `placeholder:"NAME" help:"Name that matches the pattern. Errors contain it."`
		NamingDescription string `placeholder:"TEXT" help:"What the pattern demands. Errors contain it."`
	}
)

// Validate is called by kong.
func (n *naming) Validate() error {
	if n.NamingPattern == "" && n.NamingExample+n.NamingDescription != "" {
		return exitstatus.Errorf(exitstatus.Usage, "an example or a description needs --naming-pattern")
	}
	return nil
}

// change returns the new naming, or nil if it does not change.
func (n *naming) change() *access.Naming {
	if n.NamingPattern == "" {
		return nil
	}
	return &access.Naming{Pattern: n.NamingPattern, Example: n.NamingExample, Description: n.NamingDescription}
}

type accessCmd struct {
	apiOptions

	List   listAccessCmd   `cmd:"" help:"List who has which roles in a project."`
	Grant  grantAccessCmd  `cmd:"" help:"Give accounts and groups roles in a project."`
	Revoke revokeAccessCmd `cmd:"" help:"Take roles in a project from accounts and groups."`
}

type (
	listAccessCmd  struct{ projectID }
	grantAccessCmd struct {
		projectID
		grantees

		Role []string `required:"" sep:"none" placeholder:"ROLE" help:"Name or ID of a role in projects. Repeat for more."`
	}
	revokeAccessCmd struct {
		projectID
		grantees

		Role []string `sep:"none" placeholder:"ROLE" help:"Name or ID of a role in projects. Repeat for more. Default: all roles."`
	}
	grantees struct {
		Account []id `placeholder:"ID" help:"Person or service account. Repeat for more, or separate IDs by commas."`
		Group   []id `placeholder:"ID" help:"Group. Repeat for more, or separate IDs by commas."`
	}
)

func projectState(p operator.Project) string {
	if p.ArchivedAt != nil {
		return "archived"
	}
	return "active"
}

func (listProjectsCmd) Run(s *session, o manager) error {
	projects, err := o.Projects(s.step())
	if err != nil {
		return err
	}
	type project = operator.Project
	return printList(s, projects, []column[project]{
		{name: "ID", cell: func(p project) string { return p.ID }, cut: cutLast, isName: true},
		{name: "NAME", cell: func(p project) string { return p.Name }, cut: cutLast, isName: true},
		{name: "MODE", cell: func(p project) string { return string(p.Mode) }},
		{name: "STATE", cell: projectState},
		{name: "TOGGLES", cell: func(p project) string { return strconv.Itoa(p.Toggles) }},
		{name: "OWNERS", cell: func(p project) string { return strings.Join(p.Owners, ", ") }, cut: cutFirst},
	})
}

func (c *showProjectCmd) Run(s *session, o manager) error {
	p, err := o.Project(s.step(), c.ID)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, p)
	}
	environments := "all"
	if p.Environments != nil {
		environments = strings.Join(p.Environments, ", ")
	}
	names := "any"
	if p.Naming != nil {
		names = p.Naming.Pattern
	}
	return s.printProperties([][2]string{
		{"ID", p.ID},
		{"Name", p.Name},
		{"Description", text(p.Description)},
		{"Mode", string(p.Mode)},
		{"State", projectState(p)},
		{"Stickiness", p.DefaultStickiness},
		{"Environments", environments},
		{"Toggle names", names},
		{"Toggles", strconv.Itoa(p.Toggles)},
		{"Owners", strings.Join(p.Owners, ", ")},
		{"Created", localTime(p.CreatedAt)},
		{"Changed", localTime(p.UpdatedAt)},
		{"Archived", localTime(p.ArchivedAt)},
	})
}

func (c *createProjectCmd) Run(s *session, o manager) error {
	p, err := o.CreateProject(s.step(), c.ID, operator.ProjectChange{
		Name: c.Name, Description: c.Description, Stickiness: c.Stickiness, Mode: (*access.Mode)(c.Mode),
		Naming: c.change(), Add: c.Environment,
	}, operator.Owners{Accounts: numbers(c.Owner), Groups: numbers(c.OwnerGroup)})
	if err != nil {
		return err
	}
	return s.result(p, "created the project %s", p.ID)
}

// changedProject is the result of a change.
type changedProject struct {
	operator.Project

	Changed bool `json:"changed"`
}

func (c *updateProjectCmd) Run(s *session, o manager) error {
	change := operator.ProjectChange{
		Name: c.Name, Description: c.Description, Stickiness: c.Stickiness, Mode: (*access.Mode)(c.Mode),
		Naming: c.change(), Add: c.AddEnvironment, Remove: c.RemoveEnvironment,
	}
	if c.NoNaming {
		change.Naming = &access.Naming{}
	}
	if c.NoDescription {
		change.Description = new("")
	}
	p, changed, err := o.UpdateProject(s.step(), c.ID, change)
	if err != nil {
		return err
	}
	return s.result(changedProject{p, changed}, "%s the project %s", changeVerb(changed), p.ID)
}

func (c *archiveProjectCmd) Run(s *session, o manager) error {
	p, changed, err := o.ArchiveProject(s.step(), c.ID)
	if err != nil {
		return err
	}
	return s.stateResult(changedProject{p, changed}, changed, "the project "+p.ID, "archived")
}

func (c *reviveProjectCmd) Run(s *session, o manager) error {
	p, changed, err := o.ReviveProject(s.step(), c.ID)
	if err != nil {
		return err
	}
	return s.stateResult(changedProject{p, changed}, changed, "the project "+p.ID, "active")
}

func (c *deleteProjectCmd) Run(s *session, o manager) error {
	p, err := o.Project(s.step(), c.ID)
	if err != nil {
		return err
	}
	if err := s.confirm("Delete the project %s and who has which roles in it?", p.ID); err != nil {
		return err
	}
	if err := o.DeleteProject(s.step(), p.ID); err != nil {
		return err
	}
	return s.result(map[string]operator.Project{"deleted": p}, "deleted the project %s", p.ID)
}

func (c *listAccessCmd) Run(s *session, o manager) error {
	grants, err := o.Access(s.step(), c.ID)
	if err != nil {
		return err
	}
	return s.printGrants(grants)
}

func (s *session) printGrants(grants []operator.Grant) error {
	type grant = operator.Grant
	return printList(s, grants, []column[grant]{
		{name: "KIND", cell: func(g grant) string { return g.Kind }},
		{name: "ID", cell: func(g grant) string { return strconv.FormatInt(g.ID, 10) }},
		{name: "NAME", cell: func(g grant) string { return g.Name }, cut: cutLast, isName: true},
		{name: "ROLES", cell: rolesText, cut: cutLast},
	})
}

func rolesText(g operator.Grant) string {
	names := make([]string, len(g.Roles))
	for i, r := range g.Roles {
		names[i] = r.Name
	}
	return strings.Join(names, ", ")
}

// Validate is called by kong.
func (g *grantees) Validate() error {
	if len(g.Account)+len(g.Group) == 0 {
		return exitstatus.Errorf(exitstatus.Usage, "nobody is selected: use --account or --group")
	}
	return nil
}

func (g *grantees) change(roles []string) operator.AccessChange {
	return operator.AccessChange{Accounts: numbers(g.Account), Groups: numbers(g.Group), Roles: roles}
}

func (c *grantAccessCmd) Run(s *session, o manager) error {
	return changeAccess(s, o, c.ID, c.change(c.Role))
}

func (c *revokeAccessCmd) Run(s *session, o manager) error {
	change := c.change(c.Role)
	change.Revoke = true
	roles := "all roles"
	if len(c.Role) > 0 {
		roles = strings.Join(c.Role, ", ")
	}
	if err := s.confirm("Take %s in the project %s from %s and %s?", roles, c.ID, count(len(c.Account), "account"),
		count(len(c.Group), "group")); err != nil {
		return err
	}
	return changeAccess(s, o, c.ID, change)
}

func changeAccess(s *session, o manager, id string, change operator.AccessChange) error {
	grants, changed, err := o.ChangeAccess(s.step(), id, change)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, struct {
			Access  []operator.Grant `json:"access"`
			Changed bool             `json:"changed"`
		}{grants, changed})
	}
	if !changed {
		fmt.Fprintln(s.out, "nothing was changed")
	}
	return s.printGrants(grants)
}
