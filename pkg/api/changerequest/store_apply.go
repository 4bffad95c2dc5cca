package changerequest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// callerOf returns who makes an API request. What the caller may do with a change request is not in it.
func callerOf(ctx context.Context) Caller {
	p := access.PrincipalFrom(ctx)
	by := Caller{Person: Person{ID: p.UserID}, IsAdmin: p.Has(access.Admin)}
	if p.UserID == 0 {
		by.Person.Name, by.Person.TokenID = p.Name, p.TokenID
	}
	return by
}

// planning returns a context with which a transaction is planned that is not written.
func planning(ctx context.Context) context.Context { return protection.WithPlanning(ctx) }

// plan is the transaction that makes the changes of a request, without the actions of the request.
type plan struct {
	toggles feature.Plan
	actions []types.TransactWriteItem // those of toggles first
}

// failed returns the error if the transaction failed because of resources that do not exist.
func (p plan) failed(failures []dynamo.Failure) error {
	return p.toggles.MissingResource(failures[:min(len(failures), len(p.toggles.Actions))])
}

// plan plans the changes of a request. The toggles and segments must be as they are in the world from which it was
// decided that they can be made; an empty world: as they are now.
func (s *Store) plan(ctx context.Context, r Request, decided world) (p plan, err error) {
	toggles, segments, err := s.actions.edits(r)
	if err != nil {
		return plan{}, err
	}
	for i, e := range toggles {
		toggles[i].LastEvent = decided.toggles[e.Name].LastEvent
	}
	for i, e := range segments {
		segments[i].LastEvent = decided.segments[e.ID].LastEvent
	}
	if p.toggles, err = s.features.InProject(r.Project).Plan(ctx, toggles); err != nil {
		return plan{}, err
	}
	if err := s.checkProjects(ctx, r); err != nil {
		return plan{}, err
	}
	var others []types.TransactWriteItem
	if len(segments) > 0 {
		if others, err = s.segments.Plan(ctx, segments); err != nil {
			return plan{}, err
		}
	}
	p.actions, err = dynamo.Merge(p.toggles.Actions, others)
	return p, err
}

// checkProjects returns a 409 unless the projects to which a request moves segments are active.
func (s *Store) checkProjects(ctx context.Context, r Request) error {
	for _, c := range r.Changes {
		if c.Action != UpdateSegment {
			continue
		}
		p, err := s.actions.read(c)
		if err != nil {
			return err
		}
		id, ok := p.body.TextOK("project")
		if !ok {
			continue
		}
		project, err := s.access.Project(ctx, id)
		if err != nil {
			return err
		}
		if project == nil || project.ArchivedAt != nil {
			return apierror.Errorf(apierror.Conflict, "There is no active project with the id %q.", apierror.Echo(id))
		}
	}
	return nil
}

// world reads what the changes of a request concern.
func (s *Store) world(ctx context.Context, r Request) (world, error) {
	w := world{map[string]toggle.Feature{}, map[int64]segment.Segment{}}
	var names []string
	usesSegments := false
	for _, c := range r.Changes {
		usesSegments = usesSegments || c.IsOfSegment() || c.Action == UpdateEnabled || c.Action == AddStrategy ||
			c.Action == UpdateStrategy
		if c.Feature != "" && !slices.Contains(names, c.Feature) {
			names = append(names, c.Feature)
		}
	}
	rows, err := featuretable.Read(ctx, s.client, s.tables[featuretable.Table], names)
	if err != nil {
		return world{}, fmt.Errorf("read the toggles of a change request: %w", err)
	}
	for _, row := range rows {
		f, err := row.Feature()
		if err != nil {
			return world{}, err
		}
		w.toggles[f.Name] = f
	}
	if !usesSegments {
		return w, nil
	}
	all, err := s.segments.List(ctx)
	if err != nil {
		return world{}, err
	}
	for _, one := range all {
		w.segments[one.ID] = one
	}
	return w, nil
}

// evaluate returns what the changes of a request mean on the state of now.
func (s *Store) evaluate(ctx context.Context, r Request) (evaluation, world, map[string]*access.Project, error) {
	w, err := s.world(ctx, r)
	if err != nil {
		return evaluation{}, world{}, nil, err
	}
	e := evaluation{world: w, needed: map[protection.Place]int64{}}
	e.after, e.conflicts = s.actions.simulate(r, w)
	places := e.places(r)
	for _, c := range r.Changes {
		if c.Action != UpdateSegment || e.conflicts[c.ID] != "" {
			continue
		}
		p, err := s.actions.read(c)
		if err != nil || !p.body.Has("constraints") {
			continue
		}
		used, err := s.segments.UsedIn(ctx, p.segment)
		if err != nil {
			return evaluation{}, world{}, nil, err
		}
		for place := range used {
			places[place] = true
		}
	}
	projects, environments, err := s.read(ctx, places)
	if err != nil {
		return evaluation{}, world{}, nil, err
	}
	if err := environment.CheckProject(projects[r.Project], r.Environment); err != nil {
		for _, c := range r.Changes {
			e.conflicts[c.ID] = apierror.From(err).Message
		}
	}
	for _, place := range slices.SortedFunc(maps.Keys(places), comparePlaces) {
		project := projects[place.Project]
		in, exists := environments[place.Environment]
		if project == nil || !exists {
			continue
		}
		if n := protection.RequiredApprovals(project, in); n > 0 {
			e.needed[place] = n
		}
		if e.frozen == "" {
			e.frozen = frozen(r, place, protection.FreezeIn(project, in, s.log.Now()))
		}
	}
	return e, w, projects, nil
}

// read reads the projects and environments of places.
func (s *Store) read(ctx context.Context, places map[protection.Place]bool) (
	projects map[string]*access.Project, environments map[string]environment.Environment, err error,
) {
	projects = map[string]*access.Project{}
	var names []string
	for place := range places {
		names = append(names, place.Environment)
		if _, read := projects[place.Project]; read {
			continue
		}
		if projects[place.Project], err = s.access.Project(ctx, place.Project); err != nil {
			return nil, nil, err
		}
	}
	slices.Sort(names)
	environments, err = s.environments.Named(ctx, slices.Compact(names))
	return projects, environments, err
}

// approves returns in which of the places that need approvals, and of the request's own, a principal may approve.
func (s *Store) approves(
	ctx context.Context, p access.Principal, r Request, e evaluation, projects map[string]*access.Project,
) ([]protection.Place, error) {
	var places []protection.Place
	for _, place := range relevant(r, e) {
		project := projects[place.Project]
		if project == nil {
			continue
		}
		custom, err := s.customRoles(ctx, project.CustomRolesOf(p))
		if err != nil {
			return nil, err
		}
		if mayApprove(p, project, place.Environment, custom) {
			places = append(places, place)
		}
	}
	return places, nil
}

// relevant returns the places that need approvals, or the request's own if none does.
func relevant(r Request, e evaluation) []protection.Place {
	if len(e.needed) == 0 {
		return []protection.Place{r.Place()}
	}
	var places []protection.Place
	for place := range e.needed {
		places = append(places, place)
	}
	slices.SortFunc(places, comparePlaces)
	return places
}

func (s *Store) customRoles(ctx context.Context, ids []access.Role) (access.CustomRoles, error) {
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // no roles
	}
	return s.access.CustomRoles(ctx, ids)
}

// approvers returns where each account that has approved a request may approve today. One that is disabled or deleted may
// nowhere.
func (s *Store) approvers(
	ctx context.Context, r Request, e evaluation, projects map[string]*access.Project,
) (map[int64][]protection.Place, error) {
	all := map[int64][]protection.Place{}
	var ids []int64
	for _, v := range r.Approvals {
		if !v.StruckOut {
			ids = append(ids, v.By.ID)
		}
	}
	if len(ids) == 0 {
		return all, nil
	}
	accounts, err := s.users.Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	directory, err := s.access.Directory(ctx)
	if err != nil {
		return nil, err
	}
	for id, u := range accounts {
		if u.Disabled {
			continue
		}
		p := s.principal(u, directory)
		if all[id], err = s.approves(ctx, p, r, e, projects); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// principal returns the principal of an account, as a personal access token has it.
func (s *Store) principal(u user.User, directory accesstable.Directory) access.Principal {
	groups := directory.MembersGroups(u.Groups, u.GroupValues(s.log.Now(), s.groupDays))
	p := access.MemberPrincipal(u.ID, u.Role, groups, directory.Roles)
	p.IsServiceAccount = u.Kind == user.ServiceAccount
	return p
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
		return u.Disabled || !mayApprove(s.principal(u, directory), project, environment, custom)
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

// caller returns the caller with what they may do with a request.
func (s *Store) caller(
	ctx context.Context, r Request, e evaluation, w world, projects map[string]*access.Project,
) (by Caller, err error) {
	by = callerOf(ctx)
	if by.Approves, err = s.approves(ctx, access.PrincipalFrom(ctx), r, e, projects); err != nil {
		return Caller{}, err
	}
	project := projects[r.Project]
	switch {
	case project == nil:
	case len(e.needed) > 0:
		by.Applies, err = access.May(ctx, project, r.Environment, access.ApplyChangeRequest)
	default:
		by.Applies, err = mayDirectly(ctx, r, project, w, s.actions)
	}
	return by, err
}

// eventOf returns the type of the event when somebody asks for another state of a request.
func eventOf(old Request, asked State) eventlog.Type {
	if old.State == Scheduled && asked == Approved { // the schedule is taken back
		return eventlog.ChangeRequestUpdated
	}
	return map[State]eventlog.Type{
		InReview:  eventlog.ChangeRequestSentToReview,
		Approved:  eventlog.ChangeRequestApproved,
		Scheduled: eventlog.ChangeRequestScheduled,
		Rejected:  eventlog.ChangeRequestRejected,
		Canceled:  eventlog.ChangeRequestCancelled,
		Applied:   eventlog.ChangeRequestApplied,
	}[asked]
}

// Become changes the state of a request, and makes its changes when it is applied, in the same transaction. check receives
// the request; its error is returned. The kind of its other errors are those of Request.Become.
func (s *Store) Become(
	ctx context.Context, project string, id int64, asked Asked, comment string, check func(Request) error,
) (Request, error) {
	var changes plan
	return s.update(ctx, project, id, func(old Request) (write, error) {
		changes = plan{}
		if err := check(old); err != nil {
			return write{}, err
		}
		e, w, projects, err := s.evaluate(ctx, old)
		if err != nil {
			return write{}, err
		}
		by, err := s.caller(ctx, old, e, w, projects)
		if err != nil {
			return write{}, err
		}
		c := Circumstances{Now: s.log.Now(), Needed: e.needed, Conflicts: e.list(old)}
		if c.Approvers, err = s.approvers(ctx, old, e, projects); err != nil {
			return write{}, err
		}
		next, err := old.Become(asked, by, c)
		if err != nil && next.State != old.State { // an approval was struck out
			return write{next: next, event: eventlog.ChangeRequestSentToReview, refused: err}, nil
		}
		if err != nil {
			return write{}, err
		}
		if comment != "" {
			if next, err = next.commented(comment, by.Person, c.Now); err != nil {
				return write{}, err
			}
		}
		change := write{next: next, event: eventOf(old, asked.State), comment: comment}
		if next.State == Applied {
			if changes, err = s.plan(applying(ctx, old, e), old, e.world); err != nil {
				return write{}, err
			}
			change.parts = [][]types.TransactWriteItem{changes.actions}
		}
		return change, nil
	}, func(failures []dynamo.Failure) error { return changes.failed(failures) })
}

// applying returns a context with which the changes of a request are permitted where it was approved, and are recorded
// with its id.
func applying(ctx context.Context, r Request, e evaluation) context.Context {
	approved := func(place protection.Place) bool { return e.needed[place] > 0 }
	return eventlog.WithChangeRequest(protection.WithApproved(ctx, approved), r.ID)
}
