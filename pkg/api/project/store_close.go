package project

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// Archive archives a project, or does nothing if it is archived. precondition receives the project; its error is
// returned. The kind of the error of Archive is NotFound, NoAccess for the default project, or Conflict while the project
// has toggles that are not archived.
func (s *Store) Archive(ctx context.Context, id string, precondition Precondition) error {
	return s.ArchiveAt(ctx, id, datetime.Milliseconds(s.log.Now()), precondition)
}

// ArchiveAt is Archive with the time that the project has as that of its archiving.
func (s *Store) ArchiveAt(
	ctx context.Context, id string, at time.Time, precondition Precondition,
) error {
	errArchived := errors.New("the project is archived")
	err := s.close(ctx, id, closing{
		precondition: func(p *access.Project) error {
			if err := precondition(p); err != nil {
				return err
			}
			if p.ArchivedAt != nil {
				return errArchived
			}
			return nil
		},
		check: func(found contents) error {
			if found.active == 0 {
				return nil
			}
			return apierror.Errorf(apierror.Conflict,
				"The project %q has toggles that are not archived: %d. Archive or move them first.", id, found.active)
		},
		write: func(actions *dynamo.Actions, old *access.Project, condition expression.ConditionBuilder) error {
			next := *old
			next.ArchivedAt = &at
			return s.replace(ctx, actions, old, &next, condition, eventlog.ProjectArchived,
				newEventData(&next), newEventData(old))
		},
	})
	if errors.Is(err, errArchived) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("archive project %q: %w", id, err)
	}
	return nil
}

// Delete deletes a project, which need not be archived. precondition receives the project; its error is returned. The
// kind of the error of Delete is NotFound, NoAccess for the default project, or Conflict while the project has a toggle,
// a segment, or a client token of its own. Reports of code references are deleted with the project.
func (s *Store) Delete(ctx context.Context, id string, precondition Precondition) error {
	err := s.close(ctx, id, closing{
		precondition: precondition,
		check: func(found contents) error {
			if err := found.conflict(id); err != nil {
				return err
			}
			return s.access.DeleteCodeReferences(ctx, id)
		},
		write: func(actions *dynamo.Actions, old *access.Project, condition expression.ConditionBuilder) error {
			event, record, err := s.log.RecordActions(ctx, Change(eventlog.ProjectDeleted, old, nil, newEventData(old)))
			if err != nil {
				return err
			}
			actions.Add(actionProject, dynamo.DeleteItem(s.table(), accesstable.ProjectKey(id), condition))
			actions.Add(actionMarker, s.log.PutMarkerActions(Subject(id), event, "")...)
			actions.Add(actionEvent, record...)
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("delete project %q: %w", id, err)
	}
	return nil
}

// conflict returns a 409 that says what a project has, or nil if it has nothing.
func (c contents) conflict(id string) error {
	var has []string
	for _, kind := range []struct {
		name   string
		number int
	}{
		{"toggles", c.active},
		{"archived toggles", c.archived},
		{"segments", c.segments},
		{"client tokens of its own", c.tokens},
	} {
		if kind.number > 0 {
			has = append(has, fmt.Sprintf("%s: %d", kind.name, kind.number))
		}
	}
	if has == nil {
		return nil
	}
	return apierror.Errorf(apierror.Conflict, "The project %q cannot be deleted, because it has %s.", id,
		strings.Join(has, ", "))
}

// closing is the archiving or deletion of a project.
type closing struct {
	precondition Precondition
	check        func(contents) error // of what the project has
	write        func(*dynamo.Actions, *access.Project, expression.ConditionBuilder) error
}

// close archives or deletes a project. It marks the project before it looks for what the project has, so that nothing is
// created there until the write. The mark has no effect after a minute (accesstable.Condition).
func (s *Store) close(ctx context.Context, id string, c closing) error {
	if id == access.DefaultProject {
		return apierror.New(apierror.NoAccess, "The default project can be neither archived nor deleted.")
	}
	return dynamo.Retry(ctx, func() (bool, error) { return s.tryClose(ctx, id, c) })
}

// tryClose is one attempt of close. It returns false if the project has been changed concurrently.
func (s *Store) tryClose(ctx context.Context, id string, c closing) (done bool, err error) {
	old, err := s.Get(ctx, id)
	if err != nil {
		return false, err
	}
	if err := c.precondition(old); err != nil {
		return false, err
	}
	mark := expression.Name(accesstable.AttributeClosing)
	now := s.log.Now().UnixMilli()
	marked, err := s.update(ctx, id, expression.NewBuilder().
		WithCondition(unchanged(old)).
		WithUpdate(expression.Set(mark, expression.Value(now))))
	if !marked || err != nil {
		return false, err
	}
	isMarked := mark.Equal(expression.Value(now))
	found, err := s.contentsOf(ctx, id)
	if err == nil {
		err = c.check(found)
	}
	if err != nil {
		_, removing := s.update(ctx, id, expression.NewBuilder().WithCondition(isMarked).WithUpdate(expression.Remove(mark)))
		return false, errors.Join(err, removing)
	}
	failures, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		var actions dynamo.Actions
		err := c.write(&actions, old, unchanged(old).And(isMarked))
		return actions.List(), err
	})
	return err == nil && failures == nil, err
}

// update changes the item of a project. It returns false if the condition fails.
func (s *Store) update(ctx context.Context, id string, builder expression.Builder) (bool, error) {
	expr := dynamo.Build(builder)
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 new(s.table()),
		Key:                       accesstable.ProjectKey(id),
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	switch {
	case dynamo.FailedCondition(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("mark the project %q: %w", id, err)
	}
	return true, nil
}
