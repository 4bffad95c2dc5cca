package counting

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/dynamo"
)

// Config is what a Recorder and SeenTokens need. The tables are Usage and ClientTokens.
type Config struct {
	DynamoDB *dynamodb.Client
	Tables   dynamo.Tables
	Now      func() time.Time
	Random   io.Reader
	Logger   *slog.Logger
	Function string // the dimension of metrics in the log; without a name there are none
}

// usageStore writes parts of usage. It is safe for concurrent use.
type usageStore struct {
	client *dynamodb.Client
	table  string
}

// put writes a part, unless a later write of the part has arrived before: DynamoDB can carry out a call after the
// process gave it up.
func (s usageStore) put(ctx context.Context, item dynamo.Item) error {
	writes := expression.Name(usagetable.AttributeWrites)
	expr := dynamo.Build(expression.NewBuilder().WithCondition(
		writes.AttributeNotExists().Or(writes.LessThan(expression.Value(item[usagetable.AttributeWrites])))))
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 &s.table,
		Item:                      item,
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if dynamo.FailedCondition(err) {
		return nil // this call has arrived twice
	}
	return err
}

// putLate notes that an hour must be merged again. It needs no condition: any later note does the same.
func (s usageStore) putLate(ctx context.Context, item dynamo.Item) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: item})
	return err
}
