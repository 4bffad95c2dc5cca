package counting

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// tokenStore writes when tokens were last used. It is safe for concurrent use.
type tokenStore struct {
	client *dynamodb.Client
	table  string
}

// setSeenAt sets when a token was last used. A token that does not exist anymore is not created again.
func (s tokenStore) setSeenAt(ctx context.Context, selector access.Selector, now time.Time) error {
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(expression.Name(clienttokentable.Hash).AttributeExists()).
		WithUpdate(expression.Set(expression.Name(clienttokentable.AttributeSeenAt), expression.Value(dynamo.Time(now)))))
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       clienttokentable.Key(selector),
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if dynamo.FailedCondition(err) {
		return nil
	}
	return err
}
