package dynamo

import (
	"context"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// pageSize limits the items of a page of a Scan or Query. DynamoDB itself limits a page to 1 MB. Some
// DynamoDB-compatible engines read all remaining rows for every page without a limit.
const pageSize = 5000

// Scan reads a whole table, consistently, page by page. It stops at the first error.
func Scan(ctx context.Context, client *dynamodb.Client, table string) iter.Seq2[Item, error] {
	return ScanSegment(ctx, client, table, 0, 1)
}

// ScanSegment is a Scan of one of several segments of a table, numbered from 0, which can be read at the same time. It
// returns the named attributes of each item, or all of them if none is named. The read units are the same.
func ScanSegment(
	ctx context.Context, client *dynamodb.Client, table string, segment, segments int32, attributes ...string,
) iter.Seq2[Item, error] {
	return pages(func(start Item) ([]map[string]types.AttributeValue, Item, error) {
		input := &dynamodb.ScanInput{
			TableName: &table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(pageSize), ExclusiveStartKey: start,
		}
		if len(attributes) > 0 {
			names := map[string]string{}
			for _, attribute := range attributes {
				names["#"+attribute] = attribute
			}
			input.ProjectionExpression = aws.String("#" + strings.Join(attributes, ", #"))
			input.ExpressionAttributeNames = names
		}
		if segments > 1 {
			input.Segment, input.TotalSegments = &segment, &segments
		}
		page, err := client.Scan(ctx, input)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.LastEvaluatedKey, nil
	})
}

// Query reads all items under one partition key, consistently, page by page. It stops at the first error.
func Query(
	ctx context.Context, client *dynamodb.Client, table, hash string, value types.AttributeValue,
) iter.Seq2[Item, error] {
	return QueryWhere(ctx, client, table, expression.Key(hash).Equal(expression.Value(value)))
}

// namesOf returns the projection of an item to attributes.
func namesOf(attributes []string) expression.ProjectionBuilder {
	var projection expression.ProjectionBuilder
	for _, attribute := range attributes {
		projection = projection.AddNames(expression.Name(attribute))
	}
	return projection
}

// QueryWhere reads all items whose keys meet a condition, consistently, page by page, ordered by the sort key. It
// returns the named attributes of each item, or all of them if none is named. It stops at the first error.
func QueryWhere(
	ctx context.Context, client *dynamodb.Client, table string, keys expression.KeyConditionBuilder, attributes ...string,
) iter.Seq2[Item, error] {
	builder := expression.NewBuilder().WithKeyCondition(keys)
	if len(attributes) > 0 {
		builder = builder.WithProjection(namesOf(attributes))
	}
	return query(ctx, client, dynamodb.QueryInput{TableName: &table, ConsistentRead: aws.Bool(true)}, builder)
}

// QueryIndex reads all items of an index whose keys meet a condition, page by page, ordered by the sort key. The index can
// lack the changes of the last seconds. It stops at the first error.
func QueryIndex(
	ctx context.Context, client *dynamodb.Client, table, index string, keys expression.KeyConditionBuilder,
) iter.Seq2[Item, error] {
	return query(ctx, client, dynamodb.QueryInput{TableName: &table, IndexName: &index},
		expression.NewBuilder().WithKeyCondition(keys))
}

// query reads all pages of a Query.
func query(
	ctx context.Context, client *dynamodb.Client, input dynamodb.QueryInput, builder expression.Builder,
) iter.Seq2[Item, error] {
	expr := Build(builder)
	input.Limit = aws.Int32(pageSize)
	input.KeyConditionExpression, input.ProjectionExpression = expr.KeyCondition(), expr.Projection()
	input.ExpressionAttributeNames, input.ExpressionAttributeValues = expr.Names(), expr.Values()
	return pages(func(start Item) ([]map[string]types.AttributeValue, Item, error) {
		next := input
		next.ExclusiveStartKey = start
		page, err := client.Query(ctx, &next)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, page.LastEvaluatedKey, nil
	})
}

// pages calls read with the key at which the previous page ended, until there is none.
func pages(
	read func(start Item) (items []map[string]types.AttributeValue, last Item, err error),
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for start := Item(nil); ; {
			items, last, err := read(start)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if start = last; start == nil {
				return
			}
		}
	}
}

// Get reads one item consistently. It returns nil if there is none.
func Get(ctx context.Context, client *dynamodb.Client, table string, key Item) (Item, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// maxKeys is the maximum number of keys of a BatchGetItem.
const maxKeys = 100

// GetEach reads one item of each of several tables, consistently, in one call. keys and the result are by table. Keys
// without an item are left out.
func GetEach(ctx context.Context, client *dynamodb.Client, keys map[string]Item) (map[string]Item, error) {
	left := make(map[string]types.KeysAndAttributes, len(keys))
	for table, key := range keys {
		left[table] = types.KeysAndAttributes{Keys: []map[string]types.AttributeValue{key}, ConsistentRead: aws.Bool(true)}
	}
	items := make(map[string]Item, len(keys))
	for attempt := 1; len(left) > 0; attempt++ {
		out, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: left})
		if err == nil && len(out.UnprocessedKeys) > 0 {
			err = Pause(ctx, attempt)
		}
		if err != nil {
			return nil, err
		}
		for table, found := range out.Responses {
			for _, item := range found {
				items[table] = item
			}
		}
		left = out.UnprocessedKeys
	}
	return items, nil
}

// GetAll reads the items of keys consistently, in any order, in calls of 100 keys one after another. Keys without an
// item are left out. It returns the named attributes of each item, or all of them if none is named.
func GetAll(
	ctx context.Context, client *dynamodb.Client, table string, keys []Item, attributes ...string,
) ([]Item, error) {
	var projection expression.Expression
	if len(attributes) > 0 {
		projection = Build(expression.NewBuilder().WithProjection(namesOf(attributes)))
	}
	var all []Item
	left := make([]map[string]types.AttributeValue, len(keys))
	for i, key := range keys {
		left[i] = key
	}
	for attempt := 1; len(left) > 0; {
		n := min(len(left), maxKeys)
		out, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			table: {
				Keys:                     left[:n],
				ConsistentRead:           aws.Bool(true),
				ProjectionExpression:     projection.Projection(),
				ExpressionAttributeNames: projection.Names(),
			},
		}})
		if err != nil {
			return nil, err
		}
		for _, item := range out.Responses[table] {
			all = append(all, item)
		}
		unread := out.UnprocessedKeys[table].Keys
		if left = append(left[n:], unread...); len(unread) > 0 {
			if err := Pause(ctx, attempt); err != nil {
				return nil, err
			}
			attempt++
		}
	}
	return all, nil
}

// CheckItem returns the action of a transaction that fails unless the item with a key meets a condition.
func CheckItem(table string, key Item, condition expression.ConditionBuilder) types.TransactWriteItem {
	expr := Build(expression.NewBuilder().WithCondition(condition))
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                 &table,
		Key:                       key,
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	}}
}

// ReplaceItem returns the action of a transaction that replaces an item under a condition.
func ReplaceItem(table string, item Item, condition expression.ConditionBuilder) types.TransactWriteItem {
	expr := Build(expression.NewBuilder().WithCondition(condition))
	return types.TransactWriteItem{Put: &types.Put{
		TableName:                 &table,
		Item:                      item,
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	}}
}

// UpdateItem returns the action of a transaction that updates the item with a key. builder contains the update and, if it
// has one, the condition.
func UpdateItem(table string, key Item, builder expression.Builder) types.TransactWriteItem {
	expr := Build(builder)
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                 &table,
		Key:                       key,
		UpdateExpression:          expr.Update(),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	}}
}

// UpdateItemOrReturn is UpdateItem whose failure, if the condition is not met, contains the stored item.
func UpdateItemOrReturn(table string, key Item, builder expression.Builder) types.TransactWriteItem {
	action := UpdateItem(table, key, builder)
	action.Update.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return action
}

// DeleteItem returns the action of a transaction that deletes an item under a condition.
func DeleteItem(table string, key Item, condition expression.ConditionBuilder) types.TransactWriteItem {
	expr := Build(expression.NewBuilder().WithCondition(condition))
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName:                 &table,
		Key:                       key,
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	}}
}

// NewItem returns the action of a transaction that writes an item. It fails, with the stored item, if the key exists.
// hash names the table's partition key.
func NewItem(table, hash string, item Item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &table, Item: item,
		ConditionExpression:                 aws.String("attribute_not_exists(#hash)"),
		ExpressionAttributeNames:            map[string]string{"#hash": hash},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}
