package pat

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// RecordExpiry records that a token has reached a threshold. It does nothing if the token was changed or deleted after
// it was read.
func (s *Store) RecordExpiry(ctx context.Context, p PAT, days int64) error {
	_, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		id, event, err := s.log.RecordActions(ctx, p.expiring(days))
		expr := dynamo.Build(expression.NewBuilder().
			WithCondition(expression.Name("id").AttributeExists().And(eventlog.HasLast(p.LastEvent))).
			WithUpdate(eventlog.SetLast(id).Set(expression.Name("announcedDays"), expression.Value(days))))
		return append([]types.TransactWriteItem{{Update: &types.Update{
			TableName:                 &s.pats,
			Key:                       Key(p.UserID, p.ID),
			UpdateExpression:          expr.Update(),
			ConditionExpression:       expr.Condition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		}}}, event...), err
	})
	if err != nil {
		return fmt.Errorf("record the expiry of PAT %d: %w", p.ID, err)
	}
	return nil
}

// DueThreshold returns the threshold of its expiry that is to be recorded now, as access.DueThreshold.
func (p PAT) DueThreshold(now time.Time) int64 {
	return access.DueThreshold(p.ExpiresAt, p.AnnouncedDays, now)
}

// expiring returns the record of a threshold.
func (p PAT) expiring(days int64) eventlog.Change {
	return p.change(eventlog.TokenExpiring, struct {
		ID          int64  `json:"id"`
		UserID      int64  `json:"userId"`
		Description string `json:"description"`
		ExpiresAt   string `json:"expiresAt"`
		Days        int64  `json:"days"` // the threshold that was reached: 14, 7 or 1
	}{p.ID, p.UserID, p.Description, datetime.Format(p.ExpiresAt), days}, nil)
}
