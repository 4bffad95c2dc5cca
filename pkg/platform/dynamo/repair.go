package dynamo

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ReplaceAttribute returns a function that sets an attribute of an item, named by its path, from old to next. nil
// stands for no attribute. The function does nothing if the attribute does not have the value old.
func ReplaceAttribute(
	client *dynamodb.Client, table string, key Item, path []string, old, next types.AttributeValue,
) func(context.Context) error {
	names := map[string]string{}
	placeholders := make([]string, len(path))
	for i, name := range path {
		placeholders[i] = fmt.Sprint("#p", i)
		names[placeholders[i]] = name
	}
	attribute := strings.Join(placeholders, ".")
	values := Item{}
	condition := "attribute_not_exists(" + attribute + ")"
	if old != nil {
		condition = attribute + " = :old"
		values[":old"] = old
	}
	update := "REMOVE " + attribute
	if next != nil {
		update = "SET " + attribute + " = :next"
		values[":next"] = next
	}
	return func(ctx context.Context) error {
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 &table,
			Key:                       key,
			ConditionExpression:       &condition,
			UpdateExpression:          &update,
			ExpressionAttributeNames:  names,
			ExpressionAttributeValues: values,
		})
		return unlessFailedCondition(err)
	}
}

// DeleteItem returns a function that deletes an item. The function does nothing if an attribute of the item does not
// have the value.
func DeleteItem(
	client *dynamodb.Client, table string, key Item, attribute string, value types.AttributeValue,
) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:                 &table,
			Key:                       key,
			ConditionExpression:       aws.String("#attribute = :value"),
			ExpressionAttributeNames:  map[string]string{"#attribute": attribute},
			ExpressionAttributeValues: Item{":value": value},
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
