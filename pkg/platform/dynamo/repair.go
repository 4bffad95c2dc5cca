package dynamo

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ReplaceAttribute returns a function that sets an attribute of an item, named by its path of names without periods,
// from old to next. nil stands for no attribute. The function does nothing if the attribute does not have the value old.
func ReplaceAttribute(
	client *dynamodb.Client, table string, key Item, path []string, old, next types.AttributeValue,
) func(context.Context) error {
	attribute := expression.Name(strings.Join(path, "."))
	condition := attribute.AttributeNotExists()
	if old != nil {
		condition = attribute.Equal(expression.Value(old))
	}
	update := expression.Remove(attribute)
	if next != nil {
		update = expression.Set(attribute, expression.Value(next))
	}
	expr := Build(expression.NewBuilder().WithCondition(condition).WithUpdate(update))
	return func(ctx context.Context) error {
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 &table,
			Key:                       key,
			ConditionExpression:       expr.Condition(),
			UpdateExpression:          expr.Update(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		})
		return unlessFailedCondition(err)
	}
}

// DeleteMatching returns a function that deletes an item. The function does nothing if an attribute of the item does not
// have the value.
func DeleteMatching(
	client *dynamodb.Client, table string, key Item, attribute string, value types.AttributeValue,
) func(context.Context) error {
	expr := Build(expression.NewBuilder().WithCondition(expression.Name(attribute).Equal(expression.Value(value))))
	return func(ctx context.Context) error {
		_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:                 &table,
			Key:                       key,
			ConditionExpression:       expr.Condition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		})
		return unlessFailedCondition(err)
	}
}

func unlessFailedCondition(err error) error {
	if FailedCondition(err) {
		return nil
	}
	return err
}
