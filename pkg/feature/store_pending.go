package feature

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// indexAnnouncements contains the items with announcements that are not sent yet.
const indexAnnouncements = "announcements"

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

// Announced clears announcements that were sent. If the toggle has newer ones, it clears nothing, and all of them are sent again.
func (s *FlagStore) Announced(ctx context.Context, p Pending) error {
	var err error
	if p.detached {
		// No condition: the item never changes.
		_, err = s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.features, Key: key(p.key)}, dynamo.Once)
	} else {
		_, err = s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.features, Key: key(p.key),
			UpdateExpression:          aws.String("REMOVE #pending, #pendingShard, #pendingSince"),
			ConditionExpression:       aws.String("#sequence = :sequence"),
			ExpressionAttributeNames:  clearedNames(),
			ExpressionAttributeValues: dynamo.Item{":sequence": dynamo.N(p.sequence)},
		}, dynamo.Once)
	}
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("clear the announcements of %q: %w", p.key, err)
	}
	return nil
}

func clearedNames() map[string]string {
	return map[string]string{
		"#pending": attributePending, "#pendingShard": attributePendingShard, "#pendingSince": attributePendingSince,
		"#sequence": attributeSequence,
	}
}

// detach moves the announcements of a toggle to an item of their own, unless it has newer ones.
func (s *FlagStore) detach(ctx context.Context, item dynamo.Item) error {
	_, err := dynamo.Transact(ctx, s.client, []types.TransactWriteItem{{Update: &types.Update{
		TableName: &s.features, Key: key(item.String("name")),
		UpdateExpression:          aws.String("REMOVE #pending, #pendingShard, #pendingSince"),
		ConditionExpression:       aws.String("#sequence = :sequence"),
		ExpressionAttributeNames:  clearedNames(),
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
