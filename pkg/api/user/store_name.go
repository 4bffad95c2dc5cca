package user

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// RecordNameRemoval records that the name of a person is removed from the log. The person may be deleted.
func (s *Store) RecordNameRemoval(ctx context.Context, id int64) error {
	c := eventlog.Change{
		Type:    eventlog.UserNameRemoved,
		Subject: eventlog.PersonSubject(id),
		Data:    map[string]int64{"id": id},
	}
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		item, err := dynamo.Get(ctx, s.client, s.table, Key(id))
		if err != nil {
			return nil, err
		}
		exists := item != nil
		if exists {
			c.Last = item.Int(eventlog.AttributeEvent)
		} else if c.Last, err = s.newestEvent(ctx, c.Subject); err != nil {
			return nil, err
		}
		event, actions, err := s.log.RecordActions(ctx, c)
		if err != nil || !exists {
			return actions, err
		}
		return append(actions, s.update(id, expression.NewBuilder().
			WithCondition(expression.Name(hash).AttributeExists().And(eventlog.HasLast(c.Last))).
			WithUpdate(eventlog.SetLast(event)))), nil
	}, nil)
	if err != nil {
		return fmt.Errorf("record the removal of the name of user %d: %w", id, err)
	}
	return nil
}

// newestEvent returns the id of the newest event about a subject in the log, or 0.
func (s *Store) newestEvent(ctx context.Context, subject eventlog.Subject) (int64, error) {
	newest, err := eventlog.NewReader(s.log).Newest(ctx, eventlog.Filter{Subjects: []string{string(subject)}}, 1)
	if err != nil || len(newest) == 0 {
		return 0, err
	}
	return newest[0].ID, nil
}
