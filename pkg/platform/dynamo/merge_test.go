package dynamo_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

// A condition that two parts have is in the transaction once. Other actions on the same item are an error.
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
		{[]types.TransactWriteItem{a}, []types.TransactWriteItem{check("a", "y")}, 0},
		{[]types.TransactWriteItem{a}, []types.TransactWriteItem{update("a")}, 0},
		{[]types.TransactWriteItem{b}, []types.TransactWriteItem{b}, 0},
		{[]types.TransactWriteItem{b}, []types.TransactWriteItem{a, update("c")}, 3},
	} {
		all, err := dynamo.Merge(test.first, test.second)
		assert.Equal(t, test.want == 0, errors.Is(err, dynamo.ErrSameItem))
		assert.Equal(t, test.want, len(all))
	}
}
