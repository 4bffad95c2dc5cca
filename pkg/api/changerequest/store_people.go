package changerequest

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
)

// relevant returns the places that need approvals, or the request's own if none does.
func relevant(r Request, e evaluation) []protection.Place {
	if len(e.needed) == 0 {
		return []protection.Place{r.Place()}
	}
	return slices.SortedFunc(maps.Keys(e.needed), comparePlaces)
}

// approvesIn returns in which of the relevant places a principal may approve. custom contains at least the custom roles of
// the principal in their projects.
func approvesIn(p access.Principal, r Request, e evaluation, custom access.CustomRoles) (places []protection.Place) {
	for _, place := range relevant(r, e) {
		if access.MayApprove(p, e.projects[place.Project], place.Environment, custom) {
			places = append(places, place)
		}
	}
	return places
}

// customRolesIn returns the custom roles of a principal in the projects of the relevant places.
func customRolesIn(p access.Principal, r Request, e evaluation) (ids []access.Role) {
	for _, place := range relevant(r, e) {
		if project := e.projects[place.Project]; project != nil {
			ids = append(ids, project.CustomRolesOf(p)...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// caller returns the caller with what they may do with a request.
func (s *Store) caller(ctx context.Context, r Request, e evaluation) (by Caller, err error) {
	by = callerOf(ctx)
	p := access.PrincipalFrom(ctx)
	custom, err := s.customRoles(ctx, customRolesIn(p, r, e))
	if err != nil {
		return Caller{}, err
	}
	by.Approves = approvesIn(p, r, e, custom)
	project := e.projects[r.Project]
	switch {
	case project == nil:
	case len(e.needed) > 0:
		by.Applies, err = access.May(ctx, project, r.Environment, access.ApplyChangeRequest)
	default:
		by.Applies, err = mayDirectly(ctx, r, e)
	}
	return by, err
}

func (s *Store) customRoles(ctx context.Context, ids []access.Role) (access.CustomRoles, error) {
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // no roles
	}
	return s.access.CustomRoles(ctx, ids)
}

// participants are accounts on which it depends whether a request may be applied, as they were read.
type participants struct {
	accounts   map[int64]user.User // those that exist and are enabled
	principals map[int64]access.Principal
	directory  accesstable.Directory
	roles      []access.RoleDefinition // custom ones, in the projects that need approvals
}

// participants reads accounts.
func (s *Store) participants(ctx context.Context, r Request, e evaluation, ids []int64) (all participants, err error) {
	if len(ids) == 0 {
		return all, nil
	}
	if all.accounts, err = s.users.Accounts(ctx, ids); err != nil {
		return participants{}, err
	}
	maps.DeleteFunc(all.accounts, func(_ int64, u user.User) bool { return u.Disabled })
	if all.directory, err = s.access.Directory(ctx); err != nil {
		return participants{}, err
	}
	all.principals = map[int64]access.Principal{}
	var roles []access.Role
	for id, u := range all.accounts {
		all.principals[id] = s.principal(u, all.directory)
		roles = append(roles, customRolesIn(all.principals[id], r, e)...)
	}
	if len(roles) > 0 {
		slices.Sort(roles)
		all.roles, err = s.access.Definitions(ctx, slices.Compact(roles))
	}
	return all, err
}

// approvers returns where each account whose approval a request has may approve.
func (p participants) approvers(r Request, e evaluation) map[int64][]protection.Place {
	all := map[int64][]protection.Place{}
	custom := access.NewCustomRoles(p.roles...)
	for _, id := range r.approvedBy() {
		if principal, exists := p.principals[id]; exists {
			all[id] = approvesIn(principal, r, e, custom)
		}
	}
	return all
}

// unchanged returns the conditions that what an evaluation says about approvals is still true, and that accounts still have
// their rights.
func (s *Store) unchanged(e evaluation, all participants, accounts []int64) (conditions []types.TransactWriteItem) {
	conditions = s.placesUnchanged(e)
	if len(accounts) == 0 {
		return conditions
	}
	table := s.tables[accesstable.Table]
	conditions = append(conditions, all.directory.Unchanged(table))
	for _, id := range accounts {
		conditions = append(conditions, s.users.KeepsRights(all.accounts[id]))
	}
	for _, role := range all.roles {
		conditions = append(conditions, accesstable.RoleUnchanged(table, role))
	}
	return conditions
}

// placesUnchanged returns the conditions that the places that need approvals need as many as an evaluation says, and that
// nobody has lost a role there.
func (s *Store) placesUnchanged(e evaluation) (conditions []types.TransactWriteItem) {
	for _, place := range slices.SortedFunc(maps.Keys(e.needed), comparePlaces) {
		project := accesstable.Condition{LastEvent: &e.projects[place.Project].LastEvent}
		conditions = append(conditions,
			project.Actions(s.tables[accesstable.Table], place.Project, s.log.Now())...)
		conditions = append(conditions,
			s.environments.Unchanged(place.Environment, e.environments[place.Environment].LastEvent))
	}
	return conditions
}

// As returns a copy of ctx with which an account makes a call. The kind of its error is NotFound if there is no enabled
// account with the id.
func (s *Store) As(ctx context.Context, id int64) (context.Context, error) {
	u, err := s.users.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if u.Disabled {
		return nil, apierror.Errorf(apierror.NotFound, "The account %d is disabled.", id)
	}
	directory, err := s.access.Directory(ctx)
	if err != nil {
		return nil, err
	}
	return s.as(ctx, s.principal(u, directory)), nil
}

// as returns a copy of ctx with which a principal makes a call.
func (s *Store) as(ctx context.Context, p access.Principal) context.Context {
	return access.WithProjects(access.WithPrincipal(ctx, p), s.access)
}

// principal returns the principal of an account, as a personal access token has it.
func (s *Store) principal(u user.User, directory accesstable.Directory) access.Principal {
	return u.Principal(directory, u.GroupValues(s.log.Now(), s.groupDays))
}

// reviewers returns the accounts that may approve in an environment of a project.
func (s *Store) reviewers(ctx context.Context, project *access.Project, environment string) ([]user.User, error) {
	accounts, err := s.users.List(ctx)
	if err != nil {
		return nil, err
	}
	directory, err := s.access.Directory(ctx)
	if err != nil {
		return nil, err
	}
	roles, err := s.access.Roles(ctx)
	if err != nil {
		return nil, err
	}
	custom := access.NewCustomRoles(roles...)
	return slices.DeleteFunc(accounts, func(u user.User) bool {
		return u.Disabled || !access.MayApprove(s.principal(u, directory), project, environment, custom)
	}), nil
}

// checkReviewers returns a 400 unless all accounts may approve in an environment of a project.
func (s *Store) checkReviewers(ctx context.Context, project *access.Project, environment string, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	able, err := s.reviewers(ctx, project, environment)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(able, func(u user.User) bool { return u.ID == id }) {
			return apierror.Invalid(apierror.At("/body/reviewers", "must have the ids of accounts that may approve in %s; %d may not",
				named(protection.Place{Project: project.ID, Environment: environment}), id))
		}
	}
	return nil
}
