package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Advance returns the action of a transaction that changes a counter from last to next. It fails, with the counter's item, if the counter
// has another value. A counter that was never written has the value 0.
func Advance(table string, key Item, attribute string, last, next int64) *types.Update {
	update := &types.Update{
		TableName: &table, Key: key,
		ConditionExpression:                 aws.String("attribute_not_exists(#counter)"),
		UpdateExpression:                    aws.String("SET #counter = :next"),
		ExpressionAttributeNames:            map[string]string{"#counter": attribute},
		ExpressionAttributeValues:           Item{":next": N(next)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if last != 0 {
		update.ConditionExpression = aws.String("#counter = :last")
		update.ExpressionAttributeValues[":last"] = N(last)
	}
	return update
}
