package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Count returns the update that adds 1 to a counter and returns its item. A counter that was never written has the
// value 0. The condition fails if the counter has reached highest. An update without a response may have counted, so
// that a repetition leaves a gap.
func Count(table string, key Item, attribute string, highest int64) *dynamodb.UpdateItemInput {
	update, condition := Increment(attribute, highest)
	expr := Build(expression.NewBuilder().WithUpdate(update).WithCondition(condition))
	return &dynamodb.UpdateItemInput{
		TableName:                 &table,
		Key:                       key,
		UpdateExpression:          expr.Update(),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
		ReturnValues:              types.ReturnValueAllNew,
	}
}

// Increment returns the update that adds 1 to a counter, and the condition that the counter has not reached highest.
func Increment(attribute string, highest int64) (expression.UpdateBuilder, expression.ConditionBuilder) {
	counter := expression.Name(attribute)
	return expression.Add(counter, expression.Value(1)),
		counter.AttributeNotExists().Or(counter.LessThan(expression.Value(highest)))
}
