package clienttoken

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// DueThreshold returns the threshold of the expiry of a token that is to be recorded now, as access.DueThreshold.
func DueThreshold(t clienttokentable.Token, now time.Time) int64 {
	if t.ExpiresAt == nil {
		return 0
	}
	return access.DueThreshold(*t.ExpiresAt, t.AnnouncedDays, now)
}

// RecordExpiry records that a token has reached a threshold. It does nothing if the token was changed or deleted after
// it was read.
func (s *Store) RecordExpiry(ctx context.Context, t clienttokentable.Token, days int64) error {
	_, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		id, event, err := s.log.RecordActions(ctx, newExpiring(t, days))
		expr := dynamo.Build(expression.NewBuilder().WithCondition(unchanged(t)).WithUpdate(eventlog.SetLast(id).
			Set(expression.Name(clienttokentable.AttributeAnnouncedDays), expression.Value(days))))
		return append([]types.TransactWriteItem{{Update: &types.Update{
			TableName:                 &s.table,
			Key:                       clienttokentable.Key(t.Selector),
			UpdateExpression:          expr.Update(),
			ConditionExpression:       expr.Condition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		}}}, event...), err
	})
	if err != nil {
		return fmt.Errorf("record the expiry of the client token %s: %w", t.Listed(), err)
	}
	return nil
}

// recordShortLife returns the actions that record the expiry of a token at once, if it may expire before the next
// search finds it. It then sets t.AnnouncedDays and t.LastEvent.
func (s *Store) recordShortLife(ctx context.Context, t *clienttokentable.Token, now time.Time) (
	[]types.TransactWriteItem, error,
) {
	if t.ExpiresAt == nil || t.Expired(now) || t.ExpiresAt.Sub(now) >= access.ShortLife {
		return nil, nil
	}
	id, actions, err := s.log.RecordActions(eventlog.WithActor(ctx, eventlog.System),
		newExpiring(*t, access.LastThreshold))
	t.AnnouncedDays, t.LastEvent = access.LastThreshold, id
	return actions, err
}
