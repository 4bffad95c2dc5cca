package pat

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/dynamo"
)

// attributeAnnounced is the lowest threshold, in days, at which the expiry of a token was announced.
const attributeAnnounced = "announcedDays"

// Announced stores that the expiry of a token was announced at a threshold. It does nothing if the token was deleted, or was announced at this
// or a lower threshold.
func (s *Store) Announced(ctx context.Context, p PAT, days int64) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.pats, Key: Key(p.UserID, p.ID),
		UpdateExpression:          aws.String("SET #days = :days"),
		ConditionExpression:       aws.String("attribute_exists(#id) AND (attribute_not_exists(#days) OR #days > :days)"),
		ExpressionAttributeNames:  map[string]string{"#id": "id", "#days": attributeAnnounced},
		ExpressionAttributeValues: dynamo.Item{":days": dynamo.N(days)},
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("store that PAT %d was announced: %w", p.ID, err)
	}
	return nil
}
