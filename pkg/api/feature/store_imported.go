package feature

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// SetImported stores what an import has found of a toggle that it does not change. It records no event. It changes
// nothing if the toggle has changed since it was read, or does not exist.
func (s *Store) SetImported(ctx context.Context, read toggle.Feature, imported string) error {
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(eventlog.ExistsWithLast(featuretable.Hash, read.LastEvent)).
		WithUpdate(expression.Set(expression.Name(featuretable.AttributeImported), expression.Value(imported))))
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       featuretable.Key(read.Name),
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("store what was imported of the toggle %q: %w", read.Name, err)
	}
	return nil
}
