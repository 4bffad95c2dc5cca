package user

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// RecordNameRemoval records that the name of a person is removed from the log. The person may be deleted.
func (s *Store) RecordNameRemoval(ctx context.Context, id int64) error {
	c := eventlog.Change{Type: eventlog.UserNameRemoved, Subject: eventlog.PersonSubject(id),
		Data: map[string]int64{"id": id}}
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
		if err != nil {
			return nil, err
		}
		if c.Last, err = s.lastEvent(ctx, item, c.Subject); err != nil {
			return nil, err
		}
		event, actions, err := s.log.RecordActions(ctx, c)
		if item == nil || err != nil {
			return actions, err
		}
		names, values := map[string]string{"#id": hash}, dynamo.Item{}
		condition, assignment := eventlog.Guard(c.Last, event, names, values)
		return append(actions, types.TransactWriteItem{Update: &types.Update{
			TableName: &s.table, Key: Key(id), ConditionExpression: aws.String("attribute_exists(#id) AND " + condition),
			UpdateExpression: aws.String("SET " + assignment), ExpressionAttributeNames: names,
			ExpressionAttributeValues: values,
		}}), nil
	}, nil)
	if err != nil {
		return fmt.Errorf("record the removal of the name of user %d: %w", id, err)
	}
	return nil
}

// lastEvent returns the id of the last event of a person: that of their item, or if they are deleted, the newest in the
// log.
func (s *Store) lastEvent(ctx context.Context, item dynamo.Item, subject eventlog.Subject) (int64, error) {
	if item != nil {
		return item.Int(eventlog.AttributeEvent), nil
	}
	newest, err := eventsearch.New(s.log).Newest(ctx, eventsearch.Filter{Subjects: []string{string(subject)}}, 1)
	if err != nil || len(newest) == 0 {
		return 0, err
	}
	return newest[0].ID, nil
}
