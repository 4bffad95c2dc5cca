package project

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/ownership"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// The names of the actions of a transaction.
const (
	actionProject     = "project"
	actionCounter     = "counter"    // it is changed by each creation, so that the limit holds
	actionReferences  = "references" // to an environment
	actionMember      = "member"     // an account or a group that gets a role
	actionRole        = "role"
	actionProtections = "protections" // the counter of their changes
	actionMarker      = "marker"      // of a deleted project with the id
	actionEvent       = "event"
)

// Precondition returns an error if a project is not to be changed. It is called again if the project changes meanwhile.
type Precondition = func(*access.Project) error

// Always is the precondition that holds for each project.
func Always(*access.Project) error { return nil }

// Get returns a project. The kind of its error is NotFound if there is none with the id.
func (s *Store) Get(ctx context.Context, id string) (*access.Project, error) {
	p, err := s.access.Project(ctx, id)
	if err == nil && p == nil {
		err = access.ProjectNotFound(id)
	}
	return p, err
}

// List returns all projects, with archived ones, ordered by id.
func (s *Store) List(ctx context.Context) ([]*access.Project, error) { return s.access.Projects(ctx) }

// Create adds a project, and returns it. With an empty id, it gets one that is made from its name, and without a time of
// creation, the current one. The kind of its error is NameExists, also for an id that differs in letter case only;
// Validation if the limit is reached, or an account, a group or a role in it does not exist; or Conflict if a protected or
// private project would have no Owner.
func (s *Store) Create(ctx context.Context, next access.Project) (created access.Project, err error) {
	last := int64(0) // the id of the last event of a deleted project with the id
	var actions *dynamo.Actions
	err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		_, counter, err := s.access.NextID(ctx, accesstable.KindProject)
		if err != nil {
			return nil, err
		}
		all, err := s.access.Projects(ctx)
		if err != nil {
			return nil, err
		}
		created = next
		if created.ID == "" {
			created.ID = idFor(next.Name, all)
		}
		if err := checkNew(created.ID, all); err != nil {
			return nil, err
		}
		created.LastEvent = last
		actions = &dynamo.Actions{}
		if err := s.give(ctx, actions, &access.Project{}, &created, AnyRole); err != nil {
			return nil, err
		}
		if created.CreatedAt == nil {
			created.CreatedAt = new(datetime.Milliseconds(s.log.Now()))
		}
		id, record, err := s.log.RecordActions(ctx,
			Change(eventlog.ProjectCreated, &created, newEventData(&created), nil))
		if err != nil {
			return nil, err
		}
		created.LastEvent = id
		actions.Add(actionProject, dynamo.NewItem(s.table(), accesstable.Hash, accesstable.MarshalProject(created)))
		actions.Add(actionCounter, counter)
		actions.Add(actionMarker, s.log.CheckMarkerActions(Subject(created.ID), id)...)
		actions.Add(actionEvent, record...)
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		// A process whose clock is ahead can have deleted a project with this id.
		last = max(last, eventlog.LastInMarker(actions.Failed(failures)[actionMarker]))
		return nil
	})
	if err != nil {
		return access.Project{}, fmt.Errorf("create project %q: %w", next.ID, err)
	}
	return created, nil
}

func (s *Store) table() string { return s.tables[accesstable.Table] }

// checkNew returns an error if a project with the id cannot be created beside the others.
func checkNew(id string, all []*access.Project) error {
	if taken(id, all) {
		return idExists(id)
	}
	if len(all) >= Limit {
		return apierror.Errorf(apierror.Validation,
			"Failed to create project. You can't create more than the established limit of %d. Delete a project first.", Limit)
	}
	return nil
}

func taken(id string, all []*access.Project) bool {
	return slices.ContainsFunc(all, func(p *access.Project) bool { return strings.EqualFold(p.ID, id) })
}

// idExists returns the 409 if there is a project with the id, which the caller may not see.
func idExists(id string) error {
	return apierror.Taken("/body/id", "There is already a project with the id %q.", apierror.Echo(id))
}

// CheckID returns nil if a project with the id can be created. The kind of its error is that of Create.
func (s *Store) CheckID(ctx context.Context, id string) error {
	all, err := s.access.Projects(ctx)
	if err != nil {
		return err
	}
	return checkNew(id, all)
}

// idFor returns an id that is not taken, made from the name of a project.
func idFor(name string, all []*access.Project) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '~', r == '.':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	base := strings.Trim(b.String(), "-.")
	if base == "" {
		base = "project"
	}
	const room = 96 // of 100 characters; the rest is for the number
	base = base[:min(len(base), room)]
	id := base
	for n := 2; taken(id, all); n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	return id
}

// Update changes a project. edit receives the project; its error ends the update. If nothing changes, Update only reads.
// The kind of its error is NotFound, that of edit, or Conflict if a protected or private project would have no Owner.
func (s *Store) Update(ctx context.Context, id string, edit func(*access.Project) error) error {
	err := s.change(ctx, id, eventlog.ProjectUpdated, edit)
	if err != nil {
		return fmt.Errorf("update project %q: %w", id, err)
	}
	return nil
}

// Revive makes an archived project an active one. It does nothing if the project is not archived. precondition receives
// the project; its error is returned.
func (s *Store) Revive(ctx context.Context, id string, precondition Precondition) error {
	err := s.change(ctx, id, eventlog.ProjectRevived, func(p *access.Project) error {
		if err := precondition(p); err != nil {
			return err
		}
		p.ArchivedAt = nil
		return nil
	})
	if err != nil {
		return fmt.Errorf("revive project %q: %w", id, err)
	}
	return nil
}

// change writes what edit changes, with an event. It does nothing if edit changes nothing.
func (s *Store) change(ctx context.Context, id string, t eventlog.Type, edit func(*access.Project) error) error {
	return s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		next := *old
		if err := edit(&next); err != nil || reflect.DeepEqual(*old, next) {
			return nil, err
		}
		var actions dynamo.Actions
		if next.Mode != old.Mode {
			if err := s.owners.Keep(ctx, &actions, ownership.Change{Project: &next}); err != nil {
				return nil, err
			}
		}
		err = s.replace(ctx, &actions, old, &next, unchanged(old), t, newEventData(&next), newEventData(old))
		if err != nil {
			return nil, err
		}
		return actions.List(), nil
	}, nil)
}

// replace adds the actions that replace a project under a condition, and record it.
func (s *Store) replace(
	ctx context.Context, actions *dynamo.Actions, old, next *access.Project, condition expression.ConditionBuilder,
	t eventlog.Type, data, preData any,
) error {
	return s.replaceWith(ctx, actions, next, condition, Change(t, old, data, preData))
}

// replaceWith is replace with an event.
func (s *Store) replaceWith(
	ctx context.Context, actions *dynamo.Actions, next *access.Project, condition expression.ConditionBuilder,
	event eventlog.Change,
) error {
	id, record, err := s.log.RecordActions(ctx, event)
	if err != nil {
		return err
	}
	next.LastEvent, next.UpdatedAt = id, new(datetime.Milliseconds(s.log.Now()))
	actions.Add(actionProject, dynamo.ReplaceItem(s.table(), accesstable.MarshalProject(*next), condition))
	actions.Add(actionEvent, record...)
	return nil
}

// unchanged returns the condition that a project has not changed since it was read. The default project can be without an
// item.
func unchanged(p *access.Project) expression.ConditionBuilder {
	if p.ID == access.DefaultProject && p.LastEvent == 0 {
		return eventlog.HasLast(p.LastEvent)
	}
	return eventlog.ExistsWithLast(accesstable.Hash, p.LastEvent)
}
