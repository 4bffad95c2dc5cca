package changerequest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// AddChanges adds changes to the caller's own draft for an environment, or to a new one, and returns it. The kind of its
// error is Validation with places below /body, those of a list if the changes were sent as one, or Conflict.
func (s *Store) AddChanges(ctx context.Context, r Request, changes []Change, places []string) (Request, error) {
	r.State = Draft
	r.Reached = map[State]time.Time{Draft: r.CreatedAt}
	for {
		next, err := s.addOnce(ctx, r, changes, places)
		if !errors.Is(err, errDrafts) {
			return next, err
		}
	}
}

// errDrafts means that the caller's drafts were changed while changes were added: one was sent or deleted, or another
// call has made one.
var errDrafts = errors.New("the drafts have changed")

// addOnce is AddChanges, but returns errDrafts if it must be repeated.
func (s *Store) addOnce(ctx context.Context, r Request, changes []Change, places []string) (Request, error) {
	draft, found, err := s.draft(ctx, r)
	if err != nil {
		return Request{}, err
	}
	if !found {
		w, err := s.added(ctx, r, changes, places)
		if err != nil {
			return Request{}, err
		}
		return s.create(ctx, w.next, func() error {
			if _, found, err := s.draft(ctx, r); err != nil || !found {
				return err
			}
			return errDrafts
		})
	}
	next, err := s.update(ctx, r.Project, draft, func(old Request) (write, error) {
		if old.State != Draft {
			return write{}, errDrafts
		}
		return s.added(ctx, old, changes, places)
	}, nil)
	if apierror.KindOf(err) == apierror.NotFound {
		err = errDrafts
	}
	return next, err
}

// draft returns the id of the newest draft for the environment of a request by its author.
func (s *Store) draft(ctx context.Context, r Request) (id int64, found bool, err error) {
	all, err := s.open(ctx, r.Project)
	for _, d := range all {
		if d.State == Draft && d.CreatedBy == r.CreatedBy && d.Environment == r.Environment {
			return d.ID, true, err
		}
	}
	return 0, false, err
}

// added returns a request with further changes.
func (s *Store) added(ctx context.Context, r Request, changes []Change, places []string) (write, error) {
	all := slices.Clone(r.Changes)
	for _, c := range changes {
		r.LastID++
		c.ID = r.LastID
		all = append(all, c)
	}
	next, err := r.Changed(all, callerOf(ctx), s.log.Now())
	if err != nil {
		return write{}, err
	}
	if next, err = s.checked(ctx, next, places); err != nil {
		return write{}, err
	}
	return write{next: next, event: eventlog.ChangeRequestUpdated}, nil
}

// EditChange replaces a change of a request, or deletes it if replacement is nil, and returns the request. check receives
// the request before; its error is returned.
func (s *Store) EditChange(
	ctx context.Context, project string, id, change int64, replacement *Change, check func(Request) error,
) (Request, error) {
	return s.update(ctx, project, id, func(old Request) (write, error) {
		if err := check(old); err != nil {
			return write{}, err
		}
		i := slices.IndexFunc(old.Changes, func(c Change) bool { return c.ID == change })
		if i < 0 {
			return write{}, apierror.Errorf(apierror.NotFound, "The change request %d has no change with the id %d.", id, change)
		}
		changes := slices.Clone(old.Changes)
		if replacement == nil {
			changes = slices.Delete(changes, i, i+1)
		} else {
			replacement.ID = change
			changes[i] = *replacement
		}
		next, err := old.Changed(changes, callerOf(ctx), s.log.Now())
		if err != nil {
			return write{}, err
		}
		if replacement != nil {
			// The changed one is checked last, so that an error has its place.
			order := append(slices.Delete(slices.Clone(changes), i, i+1), changes[i])
			checked := next
			checked.Changes = order
			if checked, err = s.checked(ctx, checked, []string{"/body"}); err != nil {
				return write{}, err
			}
			next.Changes[i] = checked.Changes[len(order)-1]
		}
		return write{next: next, event: eventlog.ChangeRequestUpdated}, nil
	}, nil)
}

// checked returns a request whose last changes, which were sent at places, are complete. Its error is that of the direct
// operations for the first of them that is not possible, after the changes before it.
func (s *Store) checked(ctx context.Context, r Request, places []string) (Request, error) {
	if len(r.Changes) > maxChanges {
		return r, apierror.Errorf(apierror.Validation, "A change request has at most %d changes; it would have %d.", maxChanges,
			len(r.Changes))
	}
	r.Changes = slices.Clone(r.Changes)
	first := len(r.Changes) - len(places)
	for i := range places {
		if err := s.complete(ctx, &r, first+i, places[i]); err != nil {
			return r, err
		}
	}
	size := 0
	for _, c := range r.Changes {
		size += len(c.Payload)
	}
	if size > maxSize {
		return r, apierror.Errorf(apierror.Validation,
			"The payloads of a change request have at most %d bytes together; they would have %d.", maxSize, size)
	}
	if len(places) == 0 {
		return r, nil
	}
	if s.tryOut(ctx, r) == nil {
		return r, nil
	}
	for i := range places { // which of the changes is it?
		part := r
		part.Changes = r.Changes[:first+i+1]
		if err := s.tryOut(ctx, part); err != nil {
			return r, s.placed(err, r, r.Changes[first+i], places[i])
		}
	}
	return r, nil // it has become possible: the last part is the whole request
}

// complete checks a change by itself, and adds what the request stores of it.
func (s *Store) complete(ctx context.Context, r *Request, i int, place string) error {
	c := &r.Changes[i]
	switch {
	case c.IsOfSegment() && c.Feature != "":
		return apierror.Invalid(apierror.At(place+"/feature", "must not be sent with the action %s", c.Action))
	case !c.IsOfSegment() && c.Feature == "":
		return apierror.Invalid(apierror.Missing(place + "/feature"))
	case len(c.Payload) == 0 && c.Action != ArchiveFeature && c.Action != DeleteDependency:
		return apierror.Invalid(apierror.Missing(place + "/payload"))
	}
	p, err := s.actions.read(*c)
	if err != nil {
		return apierror.Below(place+"/payload", err)
	}
	c.Segment = p.segment
	if c.Action == AddStrategy || c.Action == UpdateEnabled {
		c.StrategyID = s.newID()
	}
	part := *r
	part.Changes = []Change{*c}
	w, err := s.world(ctx, part)
	if err != nil {
		return err
	}
	if c.IsOfSegment() {
		if err := checkSegment(ctx, w, p, place); err != nil {
			return err
		}
	} else if f, ok := w.toggles[c.Feature]; !ok || f.Project != r.Project {
		return apierror.Invalid(apierror.At(place+"/feature", "must be the name of a toggle of the project %q", r.Project).
			Sent(c.Feature))
	}
	c.Seen = s.actions.seen(*c, p, r.Environment, w)
	return nil
}

// checkSegment returns a 400 unless the caller sees the segment of a change, and the project that it is moved to.
func checkSegment(ctx context.Context, w world, p payload, place string) error {
	visible, err := access.Visibility(ctx)
	if err != nil {
		return err
	}
	found, ok := w.segments[p.segment]
	if !ok || found.Project != nil && !visible(*found.Project) {
		return notSegment(place, p.segment)
	}
	if project, ok := p.body.TextOK("project"); ok && !visible(project) {
		return apierror.Invalid(apierror.At(place+"/payload/project", "must be the id of a project").Sent(project))
	}
	return nil
}

func notSegment(place string, id int64) error {
	return apierror.Invalid(apierror.At(place+"/payload/id", "must be the id of a segment").
		SentJSON(strconv.FormatInt(id, 10)))
}

// placed returns an error of the transaction of changes as one of the place of a change.
func (s *Store) placed(err error, r Request, c Change, place string) error {
	switch {
	case errors.Is(err, dynamo.ErrSameItem):
		return apierror.Invalid(apierror.At(place, "cannot be in one change request with the others: changes of segments, and "+
			"of strategies or segments that use the same segment or context field, need several requests"))
	case apierror.KindOf(err) != apierror.NotFound:
		return apierror.Below(place+"/payload", err)
	case c.Action == AddDependency:
		return apierror.Invalid(apierror.At(place+"/payload/feature",
			"must be the name of a toggle of the project %q", r.Project))
	case c.IsOfSegment():
		return notSegment(place, c.Segment)
	default:
		return apierror.Invalid(apierror.At(place+"/payload/id",
			"must be the id of a strategy of the toggle in the environment"))
	}
}

// tryOut plans the transaction that applies a request, and does not run it. Toggles cannot use a segment that the
// caller does not see.
func (s *Store) tryOut(ctx context.Context, r Request) error {
	plan, err := s.plan(planning(ctx), r, world{})
	if err != nil {
		return err
	}
	e, err := s.evaluate(ctx, r)
	if err != nil {
		return err
	}
	actions, err := merge(plan.actions, s.placesUnchanged(e))
	if err != nil {
		return err
	}
	for name, f := range e.toggles {
		err := s.features.CheckSegments(ctx, f, e.after.toggles[name])
		if wrong, ok := errors.AsType[*feature.PartError](err); ok {
			err = wrong.Err
		}
		if err != nil {
			return err
		}
	}
	if n := len(actions) + ownActions(r, e); n > dynamo.MaxActions {
		return apierror.Errorf(apierror.Validation, "The change request is too large for one transaction: it needs %d actions, "+
			"and the maximum is %d. Make several change requests.", n, dynamo.MaxActions)
	}
	return nil
}

// ownActions returns how many actions applying a request has at most besides its changes and the conditions on places: the
// request, the numbers of the project, the event, the directory of groups, the accounts of the authors, of those who
// approve and of who schedules it, and a custom role for each of those who approve.
func ownActions(r Request, e evaluation) int {
	n := 4 + len(r.authors()) + 1
	for _, approvals := range e.needed {
		n += 2 * int(approvals)
	}
	return n
}
