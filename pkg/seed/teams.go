package seed

import (
	"context"
	"slices"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// What the teams of the history have. They are found by these names.
const (
	payments     = "payments"
	pricing      = "pricing"
	paymentsTeam = "Payments team"
	onCall       = "On call"
	releaser     = "Releaser"
)

// ada and grace are people of the history, without tokens. Their ids follow those of accounts.
//
//nolint:gochecknoglobals // never changed
var (
	ada   = user.User{ID: 5, Kind: user.Person, Name: "Ada", Email: "ada@example.com", Role: access.RoleViewer}
	grace = user.User{ID: 6, Kind: user.Person, Name: "Grace", Email: "grace@example.com", Role: access.RoleEditor}
)

// teams add a protected and a private project, with toggles, to which people and groups have access by fixed roles and by
// a custom role.
func (h *history) teams() []change {
	return []change{
		{52, admin, h.createPerson(ada)},
		{52, admin, h.createPerson(grace)},
		{51, admin, h.createProject(payments, "Payments", access.Protected, editor.UserID, func(p *access.Project) {
			p.Description = new("Checkout, invoices and refunds.")
			p.Naming = &access.Naming{Pattern: "pay-[a-z-]+", Example: "pay-later", Description: "Names begin with pay-."}
		})},
		{50, admin, h.createRole},
		{50, admin, h.createGroup(paymentsTeam, "The developers of the checkout", ada.ID, grace.ID)},
		{50, admin, h.createGroup(onCall, "Who answers incidents this week", grace.ID)},
		{49, editor, h.giveAccess},
		{31, admin, h.createProject(pricing, "Pricing", access.Private, grace.ID, func(p *access.Project) {
			p.Description = new("Prices that are not announced yet.")
		})},
		h.teamToggle(27, editor, "pay-refunds", payments, "release", "Refunds without a phone call."),
		h.teamToggle(24, editor, "pay-fraud-check", payments, "kill-switch", "Checks payments for fraud."),
		{18, editor, h.addStrategy("pay-fraud-check", production, 0, toggle.StrategyFlexibleRollout, func(*toggle.Strategy) {})},
		h.teamToggle(16, by(grace), "yearly-prices", pricing, "experiment", "Shows prices per year."),
	}
}

func by(u user.User) eventlog.Actor { return eventlog.Actor{Name: u.Name, UserID: u.ID} }

// teamToggle is the creation of a toggle.
func (h *history) teamToggle(daysAgo int, by eventlog.Actor, name, projectID, of, description string) change {
	return change{daysAgo, by, h.create(toggle.Feature{
		Name: name, Project: projectID, Type: of, Description: &description,
		CreatedAt: h.now.AddDate(0, 0, -daysAgo), CreatedBy: &toggle.Creator{ID: by.UserID, Name: by.Name},
	})}
}

func (h *history) createPerson(u user.User) func(context.Context) error {
	return func(ctx context.Context) error {
		u.CreatedAt = &h.at
		return h.stores.users.Create(ctx, u)
	}
}

func (h *history) createProject(
	id, name string, mode access.Mode, owner int64, edit func(*access.Project),
) func(context.Context) error {
	return func(ctx context.Context) error {
		p := access.NewProject(id, name)
		p.Mode, p.Users = mode, map[int64][]access.Role{owner: {access.RoleOwner}}
		edit(&p)
		_, err := h.stores.projects.Create(ctx, p)
		return unlessExists(err)
	}
}

func (h *history) createRole(ctx context.Context) error {
	_, err := h.stores.roles.Create(ctx, access.RoleDefinition{
		Type: access.CustomType, Name: releaser, Description: "Turns toggles on and off in production.",
		Permissions: []access.RolePermission{{Permission: access.UpdateEnvironment, Environment: production}},
	})
	return unlessExists(err)
}

func (h *history) createGroup(name, description string, members ...int64) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := h.stores.groups.Create(ctx, accesstable.Group{
			Name: name, Description: &description, Members: members, CreatedAt: &h.at,
		})
		return unlessExists(err)
	}
}

// giveAccess gives the groups roles in the project of payments.
func (h *history) giveAccess(ctx context.Context) error {
	groups, err := h.stores.groups.List(ctx)
	if err != nil {
		return err
	}
	roles, err := h.stores.roles.List(ctx)
	if err != nil {
		return err
	}
	custom := roles[slices.IndexFunc(roles, func(r access.RoleDefinition) bool { return r.Name == releaser })]
	given := map[string]access.Role{paymentsTeam: access.RoleMember, onCall: custom.ID}
	return h.stores.projects.UpdateAccess(ctx, payments, func(p *access.Project) {
		for _, g := range groups {
			if r, ok := given[g.Name]; ok {
				p.Groups[g.ID] = []access.Role{r}
			}
		}
	}, project.AnyRole, project.Always)
}

// unlessExists returns an error unless an interrupted call has created the same.
func unlessExists(err error) error {
	if apierror.KindOf(err) == apierror.NameExists {
		return nil
	}
	return err
}
