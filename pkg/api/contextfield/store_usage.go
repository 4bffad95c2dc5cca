package contextfield

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

// Usage is the number of active toggles with a constraint on a field, by project. Projects without such a toggle are
// left out.
type Usage map[string]int64

// AttributeUsage is the attribute with the usage of a field: a map from projects to numbers of toggles.
const AttributeUsage = "usage"

const usagePrefix = "usage#" // of the key of the item with the usage of a field

// UsageKey returns the key of the item with the usage of a field.
func UsageKey(field string) dynamo.Item { return key(usagePrefix + field) }

// FieldOfUsage returns the name of the field whose usage an item of the table contains. ok is false for other items.
func FieldOfUsage(item dynamo.Item) (name string, ok bool) {
	return strings.CutPrefix(item.String(hash), usagePrefix)
}

// UsageFromItem returns the usage that an item of the table contains. ok is false if the item contains none.
func UsageFromItem(item dynamo.Item) (usage Usage, ok bool) {
	if item[AttributeUsage] == nil {
		return nil, false
	}
	usage = Usage{}
	counts := item.Map(AttributeUsage)
	for project := range counts {
		usage[project] = counts.Int(project)
	}
	return usage, true
}

// Value returns the attribute that contains the usage.
func (u Usage) Value() types.AttributeValue {
	counts := dynamo.Item{}
	for project, n := range u {
		counts[project] = dynamo.N(n)
	}
	return dynamo.M(counts)
}

// Toggles returns the number of toggles.
func (u Usage) Toggles() (n int64) {
	for _, toggles := range u {
		n += toggles
	}
	return n
}

// Projects returns the number of projects that have such a toggle.
func (u Usage) Projects() (n int64) {
	for _, toggles := range u {
		if toggles > 0 {
			n++
		}
	}
	return n
}

// Usage reads the usage of fields. Those that do not exist have none. It is one consistent read of one item for each
// field.
func (s *Store) Usage(ctx context.Context, fields []string) (map[string]Usage, error) {
	keys := make([]dynamo.Item, len(fields))
	for i, field := range fields {
		keys[i] = UsageKey(field)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("read the usage of context fields: %w", err)
	}
	all := map[string]Usage{}
	for _, item := range items {
		field, _ := FieldOfUsage(item)
		all[field], _ = UsageFromItem(item)
	}
	return all, nil
}

// Use returns the action, in a transaction that writes toggles, that adds changes to the usage of a field. stored is
// the usage that was read; it can be nil if no change is negative. The action fails, with the stored item, if the field
// does not exist, or if concurrent writes have changed which projects are left with toggles.
func (s *Store) Use(field string, changes, stored Usage) types.TransactWriteItem {
	usage := expression.Name(AttributeUsage)
	condition := usage.AttributeExists()
	var update expression.UpdateBuilder
	for _, project := range slices.Sorted(maps.Keys(changes)) {
		at := usage.AppendName(expression.NameNoDotSplit(project))
		n := changes[project]
		before, counted := stored[project]
		switch {
		case n > 0:
			update = update.Set(at, expression.Plus(at.IfNotExists(expression.Value(0)), expression.Value(n)))
		case before+n > 0: // after concurrent writes, too
			update = update.Set(at, at.Plus(expression.Value(n)))
			condition = condition.And(at.GreaterThan(expression.Value(-n)))
		case counted:
			update = update.Remove(at)
			condition = condition.And(at.Equal(expression.Value(before)))
		default:
			update = update.Remove(at)
			condition = condition.And(at.AttributeNotExists())
		}
	}
	expr := dynamo.Build(expression.NewBuilder().WithUpdate(update).WithCondition(condition))
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                           &s.table,
		Key:                                 UsageKey(field),
		ConditionExpression:                 expr.Condition(),
		UpdateExpression:                    expr.Update(),
		ExpressionAttributeNames:            expr.Names(),
		ExpressionAttributeValues:           expr.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}
