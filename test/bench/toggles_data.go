package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

const (
	bulkTypes = 5
	// untouched is a lifetime, in days, that no toggle has reached.
	untouched = 1000
)

// typeID is the id of the type of toggle number i.
func typeID(i int) string { return fmt.Sprint("type", i%bulkTypes) }

// createTypes creates the types of the toggles.
func (d *database) createTypes(ctx context.Context, log *eventlog.Log) *featuretype.Store {
	store := featuretype.NewStore(d.client, d.tables, log)
	for i := range bulkTypes {
		check(store.Create(ctx, toggle.Type{ID: typeID(i), LifetimeDays: new(int64(untouched))}))
	}
	return store
}

// toggleItem is toggle number i as pkg/api/feature stores it.
func toggleItem(i int, typeID string, created time.Time, flagged bool) dynamo.Item {
	name := fmt.Sprintf("checkout-toggle-%07d", i)
	return dynamo.Item{
		"name": dynamo.S(name), "project": dynamo.S("default"), "type": dynamo.S(typeID),
		"description": dynamo.S("Shows the new checkout to customers whose cart has more than one item."),
		"createdAt":   dynamo.Time(created), "archived": dynamo.Bool(false), "stale": dynamo.Bool(false),
		"potentiallyStale": dynamo.Bool(flagged), "contextFields": dynamo.Strings([]string{"userId"}),
		"staleness": dynamo.S(featuretable.StalenessKey(typeID, flagged, featuretable.Shard(name))),
	}
}

// putItems writes the items with the numbers 0 to n - 1.
func putItems(ctx context.Context, client *dynamodb.Client, table string, n int, item func(i int) dynamo.Item) {
	const batch, writers = 100, 8
	concurrently(writers, func(w int) error {
		for start := w * batch; start < n; start += writers * batch {
			var actions []types.TransactWriteItem
			for i := start; i < min(start+batch, n); i++ {
				actions = append(actions, types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: item(i)}})
			}
			if _, err := dynamo.Transact(ctx, client, actions); err != nil {
				return err
			}
		}
		return nil
	})
}
