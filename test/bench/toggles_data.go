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
	return featuretable.Marshal(newToggle(i, typeID, created, flagged))
}

func newToggle(i int, typeID string, created time.Time, flagged bool) toggle.Feature {
	return toggle.Feature{
		Name:             fmt.Sprintf("checkout-toggle-%07d", i),
		Project:          toggle.DefaultProject,
		Type:             typeID,
		Description:      new("Shows the new checkout to customers whose cart has more than one item."),
		CreatedAt:        created,
		PotentiallyStale: flagged,
		ContextFields:    []string{"plan"},
	}
}

// activeItem is toggleItem with two strategies in each of two environments, of which the toggle is on in one.
func activeItem(i int, typeID string, created time.Time, flagged bool) dynamo.Item {
	return featuretable.Marshal(activeToggle(i, typeID, created, flagged))
}

func activeToggle(i int, typeID string, created time.Time, flagged bool) toggle.Feature {
	f := newToggle(i, typeID, created, flagged)
	for e, name := range []string{"development", "production"} {
		environment := toggle.Environment{Enabled: i%2 == e}
		for n := range 2 {
			environment.Strategies = append(environment.Strategies, toggle.Strategy{
				ID:        fmt.Sprintf("01M8C6835GR4MTXRYA%08d", 4*i+2*e+n),
				Name:      toggle.StrategyFlexibleRollout,
				SortOrder: int32(n),
				Constraints: []toggle.Constraint{
					{ContextName: "plan", Operator: toggle.OperatorIn, Values: []string{"basic", "plus", "premium"}},
				},
				Parameters: map[string]string{
					toggle.ParameterRollout:    fmt.Sprint((7*i + 13*n) % 101),
					toggle.ParameterStickiness: toggle.StickinessDefault,
					toggle.ParameterGroupID:    f.Name,
				},
				Segments: []int64{int64(i%20 + 1)},
			})
		}
		f.SetEnvironment(name, environment)
	}
	return f
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
