package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Count returns the update that adds 1 to a counter and returns its item. A counter that was never written has the
// value 0. The condition fails if the counter has reached highest. An update without a response may have counted, so
// that a repetition leaves a gap.
func Count(table string, key Item, attribute string, highest int64) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &table, Key: key,
		UpdateExpression:          aws.String("ADD #counter :one"),
		ConditionExpression:       aws.String("(attribute_not_exists(#counter) OR #counter < :highest)"),
		ExpressionAttributeNames:  map[string]string{"#counter": attribute},
		ExpressionAttributeValues: Item{":one": N(1), ":highest": N(highest)},
		ReturnValues:              types.ReturnValueAllNew,
	}
}
