package changerequest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// Due returns the scheduled requests whose time has come, in the order of their times. It finds them in an index that can
// lack the last seconds.
func (s *Store) Due(ctx context.Context) ([]Request, error) {
	all, err := s.due(ctx, s.log.Now())
	if err != nil {
		return nil, fmt.Errorf("list change requests that are due: %w", err)
	}
	return all, nil
}

func (s *Store) due(ctx context.Context, now time.Time) ([]Request, error) {
	isDue := expression.Key(attributeDue).Equal(expression.Value(allDue)).
		And(expression.Key(attributeDueAt).LessThanEqual(expression.Value(dynamo.Time(now))))
	var keys []dynamo.Item
	for item, err := range dynamo.QueryIndex(ctx, s.client, s.table, indexDue, isDue) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, dynamo.Item{hash: item[hash]})
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, err
	}
	var all []Request
	for _, item := range items {
		r, err := fromItem(item)
		if err != nil {
			return nil, err
		}
		if r.isDue(now) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Request) int {
		return cmp.Or(a.Schedule.At.Compare(b.Schedule.At), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// ApplyDue applies a scheduled request whose time has come, or suspends its schedule. It returns the request, and whether
// this call has applied it. It does nothing to a request that is not due any more, or that is suspended for the same reason
// as before. The changes are recorded as those of the system.
func (s *Store) ApplyDue(ctx context.Context, project string, id int64) (next Request, applied bool, err error) {
	ctx = eventlog.WithActor(ctx, eventlog.System)
	var changes plan
	next, err = s.update(ctx, project, id, func(old Request) (write, error) {
		changes, applied = plan{}, false
		if !old.isDue(s.log.Now()) {
			return write{next: old}, nil
		}
		next, e, conditions, err := s.whenDue(ctx, old)
		switch {
		case err != nil:
			return write{}, err
		case next.State == Applied:
			applied = true
			if changes, err = s.plan(applying(s.as(ctx, nobody), old, e), old, e.world); err != nil {
				return write{}, err
			}
			return write{next: next, event: eventlog.ChangeRequestApplied,
				parts: [][]types.TransactWriteItem{changes.actions, conditions}}, nil
		case next.Schedule.Reason == old.Schedule.Reason:
			return write{next: old}, nil
		}
		return write{next: next, event: eventlog.ChangeRequestSuspended}, nil
	}, func(failures []dynamo.Failure) error { return changes.failed(failures) })
	return next, applied && err == nil, err
}

// nobody is the principal of the changes of a scheduled request. It has no permissions: a freeze that begins while the
// request is applied prevents it, whoever has scheduled it.
var nobody = access.Principal{ID: "schedule"} //nolint:gochecknoglobals // never changed

// whenDue returns Request.WhenDue for a request, and the conditions of the transaction that applies it.
func (s *Store) whenDue(ctx context.Context, r Request) (
	next Request, e evaluation, conditions []types.TransactWriteItem, err error,
) {
	c := Circumstances{Now: s.log.Now()}
	// Each sweep looks whether the freeze has ended, and reads nothing else before.
	projects, environments, err := s.read(ctx, map[protection.Place]bool{r.Place(): true})
	if err != nil {
		return r, e, nil, err
	}
	c.Frozen = frozen(r, r.Place(), protection.FreezeIn(projects[r.Project], environments[r.Environment], c.Now))
	if c.Frozen != "" {
		return r.WhenDue(Caller{}, c), e, nil, nil
	}
	if e, err = s.evaluate(ctx, r); err != nil {
		return r, e, nil, err
	}
	who := append(r.authors(), r.approvedBy()...)
	if by := r.Schedule.By.ID; by != 0 {
		who = append(who, by)
	}
	involved, err := s.participants(ctx, r, e, who)
	if err != nil {
		return r, e, nil, err
	}
	by, token, err := s.scheduler(ctx, r, e, involved)
	if err != nil {
		return r, e, nil, err
	}
	c.Needed, c.Conflicts, c.Frozen, c.Approvers = e.needed, e.list(r), e.frozen, involved.approvers(r, e)
	c.AuthorGone = slices.ContainsFunc(r.authors(), func(id int64) bool {
		_, exists := involved.accounts[id]
		return !exists
	})
	if next = r.WhenDue(by, c); next.State == Applied {
		who = append(r.authors(), r.counted(c)...)
		if by.Person.ID != 0 {
			who = append(who, by.Person.ID)
		}
		slices.Sort(who)
		conditions = append(s.unchanged(e, involved, slices.Compact(who)), token...)
	}
	return next, e, conditions, nil
}

// scheduler returns who has scheduled a request, with what they may do with it now: nothing if the account is disabled or
// deleted, or the API token has expired or was revoked. The condition is that the token has not changed.
func (s *Store) scheduler(ctx context.Context, r Request, e evaluation, involved participants) (
	by Caller, condition []types.TransactWriteItem, err error,
) {
	p, exists := involved.principals[r.Schedule.By.ID]
	if selector, ok := access.ParseSelector(r.Schedule.By.TokenID); ok {
		t, err := s.tokens.Get(ctx, selector)
		if err := apierror.IgnoreNotFound(err); err != nil {
			return Caller{}, nil, err
		}
		if exists = err == nil && !t.Expired(s.log.Now()); exists {
			p, condition = access.APITokenPrincipal(selector), []types.TransactWriteItem{s.tokens.Unchanged(t)}
		}
	}
	if !exists {
		return Caller{}, nil, nil
	}
	by, err = s.caller(s.as(ctx, p), r, e)
	return by, condition, err
}

// frozen returns the sentence that a place that a request changes is frozen, or "" without a freeze. People who see the
// request need not see another project.
func frozen(r Request, at protection.Place, f *access.Freeze) string {
	switch {
	case f == nil:
		return ""
	case at.Project == r.Project:
		return fmt.Sprintf("The environment %q is frozen until %s: %s", at.Environment, datetime.Format(f.Until), f.Reason)
	default:
		return fmt.Sprintf("The environment %q of another project, which it changes, is frozen until %s.", at.Environment,
			datetime.Format(f.Until))
	}
}

// MarkFailing stores when applying a scheduled request began to fail, unless that is stored or the request has changed
// since it was read. It is no change of the request and has no event.
func (s *Store) MarkFailing(ctx context.Context, r Request) error {
	since := expression.Name("schedule.failingSince")
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(eventlog.ExistsWithLast(hash, r.LastEvent)).
		WithUpdate(expression.Set(since, expression.IfNotExists(since, expression.Value(dynamo.Time(s.log.Now()))))))
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       key(r.ID),
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("mark the change request %d as failing: %w", r.ID, err)
	}
	return nil
}

// Fail ends the schedule of a request that is due and could not be applied, with a reason for people.
func (s *Store) Fail(ctx context.Context, project string, id int64, reason string) error {
	ctx = eventlog.WithActor(ctx, eventlog.System)
	_, err := s.update(ctx, project, id, func(old Request) (write, error) {
		if !old.isDue(s.log.Now()) {
			return write{next: old}, nil
		}
		return write{next: old.fail(reason), event: eventlog.ChangeRequestFailed}, nil
	}, nil)
	return err
}
