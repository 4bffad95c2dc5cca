package eventlog

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/dynamo"
)

// AttributeEvent is the attribute, in the item of a subject, that contains the id of its last event. Each write of the
// item sets it, with the condition that it has not changed since the item was read or that it is lower. So the ids of a
// subject's events rise in the order of their commits, even if clocks differ, and the attribute is the version of the
// item.
const AttributeEvent = "event"

// Table is the logical id of the table.
const Table = "Events"

// MaxDays is the maximum number of days for which events are kept, ten years; 0 keeps them forever.
const MaxDays = 3650

// DefaultDays is the template's default of EventLogDays.
const DefaultDays = 400

// Log appends to the table Events, or discards all events. It is safe for concurrent use. A store that only reads needs
// no log.
type Log struct {
	client   *dynamodb.Client
	table    string
	now      func() time.Time
	days     int // how long events are kept; 0: forever
	discards bool
	ids      sequence
}

// New returns a log on the table Events that keeps events for a number of days; 0: forever.
func New(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time, days int) *Log {
	return &Log{client: client, table: tables[Table], now: now, days: days}
}

// Open returns the log to which a function writes. number reads an environment variable.
func Open(
	client *dynamodb.Client, tables dynamo.Tables, now func() time.Time,
	number func(name string, least, most int64) int64,
) *Log {
	return New(client, tables, now, int(number("EVENT_LOG_DAYS", 0, MaxDays)))
}

// Discard returns a log that discards all events, for the items with which an installation begins.
func Discard(client *dynamodb.Client, now func() time.Time) *Log {
	return &Log{client: client, now: now, discards: true}
}

// Discards reports whether the log discards all events.
func (l *Log) Discards() bool { return l.discards }

// Now returns the time of the log's clock.
func (l *Log) Now() time.Time { return l.now() }

// Change is a change that is to be recorded.
type Change struct {
	Type        Type
	Subject     Subject
	Last        int64  // the id of the subject's last event, from AttributeEvent; 0: none
	Project     string // "": none
	FeatureName string // "": none
	Environment string // "": none
	Data        any    // a JSON object, after the change; nil: none
	PreData     any    // a JSON object, before the change; nil: none
	PermittedBy PermittedBy
}

// Preview returns the event of a change that is not recorded, without an id.
func Preview(ctx context.Context, c Change) (Event, error) {
	data, preData, err := fit(c.Data, c.PreData)
	return Event{
		Type: c.Type, Subject: c.Subject, By: ActorFrom(ctx), Project: c.Project, FeatureName: c.FeatureName,
		Environment: c.Environment, Data: data, PreData: preData, PermittedBy: c.PermittedBy,
	}, err
}

// RecordActions returns the id of the event of a change, and the action that appends the event. The actor, the id of
// the request and the reason are those of ctx. The transaction must write the id to AttributeEvent of the subject's item.
// A log that discards events returns 0 and no action.
func (l *Log) RecordActions(ctx context.Context, c Change) (int64, []types.TransactWriteItem, error) {
	if l.discards {
		return 0, nil, nil
	}
	now := l.now()
	id := l.ids.next(now, shardOf(c.Subject), c.Last)
	by := ActorFrom(ctx)
	if by.UserID != 0 {
		by.Name = ""
	}
	data, preData, err := fit(c.Data, c.PreData)
	if err != nil {
		return 0, nil, fmt.Errorf("record %s of %s: %w", c.Type, c.Subject, err)
	}
	item := dynamo.Marshal(record{
		key:              key{Partition(id), id},
		Type:             c.Type,
		Subject:          c.Subject,
		CreatedBy:        by.Name,
		CreatedByUserID:  by.UserID,
		IsServiceAccount: by.IsServiceAccount,
		CreatedByTokenID: by.TokenID,
		RequestID:        requestIDFrom(ctx),
		Project:          c.Project,
		FeatureName:      c.FeatureName,
		Environment:      c.Environment,
		Data:             string(data),
		PreData:          string(preData),
		PermittedBy:      c.PermittedBy,
		ChangeRequest:    changeRequestFrom(ctx),
		Reason:           apigateway.RequestFrom(ctx).Reason,
		ExpiresAt:        expiry(now, l.days),
	})
	expr := dynamo.Build(isNewID())
	return id, []types.TransactWriteItem{{Put: &types.Put{ // fails if another process has issued the same id
		TableName:                &l.table,
		Item:                     item,
		ConditionExpression:      expr.Condition(),
		ExpressionAttributeNames: expr.Names(),
	}}}, nil
}

// isNewID is the condition that no item has the id of an event.
func isNewID() expression.Builder {
	return expression.NewBuilder().WithCondition(expression.Name(AttributeID).AttributeNotExists())
}

// expiry returns the time to live of an item that is kept for a number of days, in seconds since 1970; 0: forever.
func expiry(now time.Time, days int) int64 {
	if days == 0 {
		return 0
	}
	return now.AddDate(0, 0, days).Unix()
}

// Transact runs the transaction that plan builds with RecordActions, or nothing if plan returns no actions. It calls
// plan again, for new ids, if another process has issued an id. The failures are those of dynamo.Transact. If Transact
// returns failures, the transaction was not applied and never will be, even if an attempt got no response. The kind of
// its error is Validation if plan returns more actions than a transaction can have.
func (l *Log) Transact(
	ctx context.Context, plan func() ([]types.TransactWriteItem, error),
) ([]dynamo.Failure, error) {
	for attempt := 1; ; attempt++ {
		actions, err := plan()
		if err != nil || len(actions) == 0 {
			return nil, err
		}
		if n := len(actions); n > dynamo.MaxActions {
			return nil, apierror.Errorf(apierror.Validation, "The change is too large for one transaction: it needs %d actions, "+
				"and the maximum is %d. Make smaller changes, one after the other.", n, dynamo.MaxActions)
		}
		failures, unknown, err := dynamo.TransactReportingUnknown(ctx, l.client, actions)
		if unknown != nil {
			written, err := l.prevent(ctx, actions)
			if err != nil {
				return nil, errors.Join(err, unknown)
			}
			if written {
				return nil, nil
			}
		}
		if err != nil || !l.issuedTwice(actions, failures) {
			return failures, err
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return nil, err
		}
	}
}

// RetryTransact is Transact for a plan that reads what it changes. If conditions fail because of a concurrent write, it
// calls failed with the failures, pauses, and calls plan again, until the context ends. An error of failed ends
// RetryTransact. failed can be nil.
func (l *Log) RetryTransact(
	ctx context.Context, plan func() ([]types.TransactWriteItem, error), failed func([]dynamo.Failure) error,
) error {
	return dynamo.Retry(ctx, func() (bool, error) {
		failures, err := l.Transact(ctx, plan)
		if err == nil && failures != nil && failed != nil {
			err = failed(failures)
		}
		return failures == nil, err
	})
}

// preventionDays is how long an item that prevents a transaction is kept: longer than a request can be delayed.
const preventionDays = 2

// prevent ensures that a transaction whose attempt got no response is not written later: it writes an item with the id
// of the transaction's first event. The item has neither a type nor a subject, so it is no event. prevent reports
// whether the attempt had already been written. It does nothing for a transaction without an event.
func (l *Log) prevent(ctx context.Context, actions []types.TransactWriteItem) (written bool, err error) {
	for _, a := range actions {
		if !l.appends(a) {
			continue
		}
		id := dynamo.Item(a.Put.Item).Int(AttributeID)
		item := dynamo.Marshal(prevention{key{Partition(id), id}, expiry(l.now(), preventionDays)})
		_, err := l.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           &l.table,
			Item:                                item,
			ConditionExpression:                 a.Put.ConditionExpression,
			ExpressionAttributeNames:            a.Put.ExpressionAttributeNames,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
			return reflect.DeepEqual(failed.Item, a.Put.Item), nil // otherwise the id is another event's
		}
		if err != nil {
			return false, fmt.Errorf("prevent a transaction whose result is unknown: %w", err)
		}
		return false, nil
	}
	return false, nil
}

// appends reports whether an action appends an event.
func (l *Log) appends(a types.TransactWriteItem) bool {
	return !l.discards && a.Put != nil && *a.Put.TableName == l.table && a.Put.ConditionExpression != nil
}

// issuedTwice reports whether a transaction failed only because of the ids of its events.
func (l *Log) issuedTwice(actions []types.TransactWriteItem, failures []dynamo.Failure) bool {
	twice := false
	for i, f := range failures {
		if f.Failed && !l.appends(actions[i]) {
			return false
		}
		twice = twice || f.Failed
	}
	return twice
}

// markerDays is how long the marker of a deleted subject without a project is kept: longer than two clocks can differ.
const markerDays = 2

// PutMarkerActions returns the action that stores the id of the last event of a deleted subject whose id can be used
// again, and the project of the subject, or "". It needs no condition: the transaction that deletes the subject has one.
// A marker with a project is kept as long as an event (DeletedProjects).
func (l *Log) PutMarkerActions(s Subject, id int64, project string) []types.TransactWriteItem {
	if l.discards {
		return nil
	}
	m := marker{markerKey(s), id, project, expiry(l.now(), markerDays)}
	if project != "" && (l.days == 0 || l.days > markerDays) {
		m.ExpiresAt = expiry(l.now(), l.days)
	}
	return []types.TransactWriteItem{{Put: &types.Put{TableName: &l.table, Item: dynamo.Marshal(m)}}}
}

// DeletedProjects returns the projects of those of the subjects that were deleted, as long as their markers are kept. A
// subject that was created again is among them. It reads the markers in a table consistently.
func DeletedProjects(
	ctx context.Context, client *dynamodb.Client, table string, subjects []Subject,
) (map[Subject]string, error) {
	keys := make([]dynamo.Item, len(subjects))
	for i, s := range subjects {
		keys[i] = dynamo.Marshal(markerKey(s))
	}
	items, err := dynamo.GetAll(ctx, client, table, keys)
	if err != nil {
		return nil, fmt.Errorf("read the projects of deleted subjects: %w", err)
	}
	projects := map[Subject]string{}
	for _, item := range items {
		if project := item.String(AttributeProject); project != "" {
			projects[Subject(strings.TrimPrefix(item.String(AttributeShard), markerPrefix))] = project
		}
	}
	return projects, nil
}

// CheckMarkerActions returns the condition that the event of a created subject is later than the last one of a deleted
// subject with the same id. If it fails, LastInMarker reads that event's id from the failure.
func (l *Log) CheckMarkerActions(s Subject, id int64) []types.TransactWriteItem {
	if l.discards {
		return nil
	}
	last := expression.Name(attributeLast)
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(last.AttributeNotExists().Or(last.LessThan(expression.Value(id)))))
	return []types.TransactWriteItem{{ConditionCheck: &types.ConditionCheck{
		TableName:                           &l.table,
		Key:                                 dynamo.Marshal(markerKey(s)),
		ConditionExpression:                 expr.Condition(),
		ExpressionAttributeNames:            expr.Names(),
		ExpressionAttributeValues:           expr.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}}
}

// LastInMarker returns the id of the last event of a deleted subject, from the failure of CheckMarkerActions.
func LastInMarker(f dynamo.Failure) int64 { return f.Item.Int(attributeLast) }
