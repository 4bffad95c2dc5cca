package changerequest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
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
	p.actions, err = merge(p.toggles.Actions, others)
	return p, err
}

// merge is dynamo.Merge. Its error is a Conflict if the parts have different actions on the same item.
func merge(parts ...[]types.TransactWriteItem) ([]types.TransactWriteItem, error) {
	actions, err := dynamo.Merge(parts...)
	if errors.Is(err, dynamo.ErrSameItem) {
		err = &apierror.Error{Kind: apierror.Conflict, Cause: err, Message: "Changes of segments, and of strategies or segments " +
			"that use the same segment or context field, cannot be made in one transaction. Make several change requests."}
	}
	return actions, err
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
func (s *Store) evaluate(ctx context.Context, r Request) (e evaluation, err error) {
	e.needed = map[protection.Place]int64{}
	if e.world, err = s.world(ctx, r); err != nil {
		return evaluation{}, err
	}
	e.after, e.conflicts = s.actions.simulate(r, e.world)
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
			return evaluation{}, err
		}
		for place := range used {
			places[place] = true
		}
	}
	if e.projects, e.environments, err = s.read(ctx, places); err != nil {
		return evaluation{}, err
	}
	if err := e.checkPlace(r); err != nil {
		for _, c := range r.Changes {
			e.conflicts[c.ID] = apierror.From(err).Message
		}
	}
	for _, place := range slices.SortedFunc(maps.Keys(places), comparePlaces) {
		project := e.projects[place.Project]
		in, exists := e.environments[place.Environment]
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
	return e, nil
}

// checkPlace returns an error unless the environment of a request exists, and its project has it.
func (e evaluation) checkPlace(r Request) error {
	project := e.projects[r.Project]
	if project == nil {
		return access.ProjectNotFound(r.Project)
	}
	if _, exists := e.environments[r.Environment]; !exists {
		return environment.NotFound(r.Environment)
	}
	return environment.CheckProject(project, r.Environment)
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
		e, err := s.evaluate(ctx, old)
		if err != nil {
			return write{}, err
		}
		by, err := s.caller(ctx, old, e)
		if err != nil {
			return write{}, err
		}
		involved, err := s.participants(ctx, old, e, old.approvedBy())
		if err != nil {
			return write{}, err
		}
		c := Circumstances{Now: s.log.Now(), Needed: e.needed, Conflicts: e.list(old), Approvers: involved.approvers(old, e)}
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
			change.parts = [][]types.TransactWriteItem{changes.actions, s.unchanged(e, involved, old.counted(c))}
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
