package feature

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// indexAnnouncements contains the items with announcements that are not sent yet.
const indexAnnouncements = "announcements"

// MaxAnnounced is the maximum number of items that one call clears: of statements in a batch.
const MaxAnnounced = 25

// Unannounced reads a page of the items of a shard whose oldest announcement was stored at or before the time until, oldest first. after is
// the Next of the page before; nil reads the first page. The index is eventually consistent.
func (s *FlagStore) Unannounced(ctx context.Context, shard int, until time.Time, after *PendingKey) (PendingPage, error) {
	partition := dynamo.S(fmt.Sprint(shard))
	input := &dynamodb.QueryInput{
		TableName: &s.features, IndexName: aws.String(indexAnnouncements), Limit: aws.Int32(flagPage),
		KeyConditionExpression:    aws.String("#shard = :shard AND #since <= :until"),
		ExpressionAttributeNames:  map[string]string{"#shard": attributePendingShard, "#since": attributePendingSince},
		ExpressionAttributeValues: dynamo.Item{":shard": partition, ":until": dynamo.Time(until)},
	}
	if after != nil {
		input.ExclusiveStartKey = dynamo.Item{
			"name": dynamo.S(after.Name), attributePendingShard: partition, attributePendingSince: dynamo.S(after.Since),
		}
	}
	out, err := s.client.Query(ctx, input, dynamo.Once)
	if err != nil {
		return PendingPage{}, fmt.Errorf("read toggles with announcements in shard %d: %w", shard, err)
	}
	var page PendingPage
	for _, item := range out.Items {
		page.Keys = append(page.Keys, pendingKey(item))
	}
	if out.LastEvaluatedKey != nil {
		page.Next = new(pendingKey(out.LastEvaluatedKey))
	}
	return page, nil
}

func pendingKey(item dynamo.Item) PendingKey {
	return PendingKey{Name: item.String("name"), Since: item.String(attributePendingSince)}
}

// Pending reads the announcements of an item consistently. There are none if they were sent in the meantime.
func (s *FlagStore) Pending(ctx context.Context, k PendingKey) (Pending, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.features, Key: key(k.Name), ConsistentRead: aws.Bool(true)}, dynamo.Once)
	if err != nil {
		return Pending{}, fmt.Errorf("read the announcements of %q: %w", k.Name, err)
	}
	return pendingFromItem(s.source, out.Item), nil
}

// Announced clears announcements that were sent, of at most MaxAnnounced items, and returns the error of each. If a toggle has newer ones, it
// clears nothing of this toggle, and all of them are sent again. The list of announcements stays, without elements, and so does the shard,
// because a statement can have only one REMOVE on the local engine.
func (s *FlagStore) Announced(ctx context.Context, all []Pending) []error {
	input, errs := &dynamodb.BatchExecuteStatementInput{}, make([]error, len(all))
	for _, p := range all {
		statement := `UPDATE "` + s.features + `" SET "pending" = [] REMOVE "pendingSince" WHERE "name" = ? AND "sequence" = ?`
		if p.detached { // such an item never changes
			statement = `DELETE FROM "` + s.features + `" WHERE "name" = ? AND "sequence" = ?`
		}
		input.Statements = append(input.Statements, types.BatchStatementRequest{
			Statement: &statement, Parameters: []types.AttributeValue{dynamo.S(p.key), dynamo.N(p.sequence)},
		})
	}
	out, err := s.client.BatchExecuteStatement(ctx, input, dynamo.Once)
	if err == nil && len(out.Responses) != len(all) {
		err = errors.New("the response does not have a result for each statement")
	}
	for i, p := range all {
		if err == nil {
			errs[i] = statementError(out.Responses[i].Error)
		} else {
			errs[i] = err
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("clear the announcements of %q: %w", p.key, errs[i])
		}
	}
	return errs
}

// statementError returns the error of a statement, or nil if only its condition failed.
func statementError(e *types.BatchStatementError) error {
	if e == nil || e.Code == types.BatchStatementErrorCodeEnumConditionalCheckFailed {
		return nil
	}
	return fmt.Errorf("%s: %s", e.Code, aws.ToString(e.Message))
}

// detach moves the announcements of a toggle to an item of their own, unless it has newer ones.
func (s *FlagStore) detach(ctx context.Context, item dynamo.Item) error {
	_, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{{Update: &types.Update{
		TableName: &s.features, Key: key(item.String("name")),
		UpdateExpression:    aws.String("REMOVE #pending, #pendingShard, #pendingSince"),
		ConditionExpression: aws.String("#sequence = :sequence"),
		ExpressionAttributeNames: map[string]string{
			"#pending": attributePending, "#pendingShard": attributePendingShard, "#pendingSince": attributePendingSince,
			"#sequence": attributeSequence,
		},
		ExpressionAttributeValues: dynamo.Item{":sequence": item[attributeSequence]},
	}}, putDetached(s.features, item)})
	if err != nil {
		return fmt.Errorf("move the announcements of toggle %q: %w", item.String("name"), err)
	}
	return nil
}

// putDetached returns the action that stores the announcements of a toggle in an item of their own. It needs no condition: no other item
// has its key.
func putDetached(table string, item dynamo.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: detached(item)}}
}
