package pat

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// attributeAnnounced is the lowest threshold, in days, at which the expiry of a token was recorded.
const attributeAnnounced = "announcedDays"

// RecordExpiry records that a token has reached a threshold. It does nothing if the token was changed or deleted after
// it was read.
func (s *Store) RecordExpiry(ctx context.Context, p PAT, days int64) error {
	_, err := s.log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		id, record, err := s.log.Actions(ctx, p.expiring(days))
		names, values := map[string]string{"#id": "id", "#days": attributeAnnounced}, dynamo.Item{":days": dynamo.N(days)}
		condition, assignment := eventlog.Guard(p.LastEvent, id, names, values)
		return append([]types.TransactWriteItem{{Update: &types.Update{
			TableName: &s.pats, Key: Key(p.UserID, p.ID), UpdateExpression: aws.String("SET #days = :days, " + assignment),
			ConditionExpression:      aws.String("attribute_exists(#id) AND " + condition),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}}, record...), err
	})
	if err != nil {
		return fmt.Errorf("record the expiry of PAT %d: %w", p.ID, err)
	}
	return nil
}
