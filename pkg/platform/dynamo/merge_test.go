package dynamo_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// Conditions of two parts on the same item are one action. Other actions on the same item are an error.
func TestMerge(t *testing.T) {
	t.Parallel()
	check := func(id, condition string) types.TransactWriteItem {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: new("T"), Key: dynamo.Item{"id": dynamo.S(id)}, ConditionExpression: &condition,
		}}
	}
	update := func(id string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{TableName: new("T"), Key: dynamo.Item{"id": dynamo.S(id)}}}
	}
	put := types.TransactWriteItem{Put: &types.Put{TableName: new("T")}}
	a, b := check("a", "x"), update("b")
	for _, test := range []struct {
		first, second []types.TransactWriteItem
		want          int // actions; 0: an error
	}{
		{[]types.TransactWriteItem{a, put}, []types.TransactWriteItem{a, b, put}, 4},
		{[]types.TransactWriteItem{a}, []types.TransactWriteItem{check("a", "y"), put}, 2},
		{[]types.TransactWriteItem{a}, []types.TransactWriteItem{update("a")}, 0},
		{[]types.TransactWriteItem{b}, []types.TransactWriteItem{b}, 0},
		{[]types.TransactWriteItem{b}, []types.TransactWriteItem{a, update("c")}, 3},
	} {
		all, err := dynamo.Merge(test.first, test.second)
		assert.Equal(t, test.want == 0, errors.Is(err, dynamo.ErrSameItem))
		assert.Equal(t, test.want, len(all))
	}
}

// Both conditions count, although their expressions use the same placeholders.
func TestMergeConditions(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	table := db.Tables["Environments"]
	db.Put(t, table, dynamo.Item{"name": dynamo.S("a"), "x": dynamo.N(1), "y": dynamo.N(2)})
	key := dynamo.Item{"name": dynamo.S("a")}
	is := func(attribute string, value int64) []types.TransactWriteItem {
		return []types.TransactWriteItem{dynamo.CheckItem(table, key,
			expression.Name(attribute).Equal(expression.Value(value)).Or(expression.Name("z").AttributeExists()))}
	}
	for _, test := range []struct {
		x, y int64
		want bool
	}{{1, 2, true}, {0, 2, false}, {1, 0, false}} {
		exists := []types.TransactWriteItem{dynamo.CheckItem(table, key, expression.Name("x").AttributeExists())}
		actions, err := dynamo.Merge(is("x", test.x), is("y", test.y), exists)
		assert.OK(t, err)
		assert.Equal(t, 1, len(actions))
		failures, err := dynamo.Transact(t.Context(), db.Client, actions)
		assert.OK(t, err)
		assert.Equal(t, test.want, failures == nil)
	}
}
