package feature

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

// usage is the actions that take a step of a toggle along on the context fields: each field's map project → number of features. A
// transaction may touch an item once, so the steps of one field are one update. A project that no longer uses a field stays with 0.
func (s *Store) usage(old, next Feature) []types.TransactWriteItem {
	steps := map[string]map[string]int64{} // field → project → change
	count := func(f Feature, by int64) {
		for _, field := range f.usedFields() {
			if steps[field] == nil {
				steps[field] = map[string]int64{}
			}
			steps[field][f.Project] += by
		}
	}
	count(old, -1)
	count(next, +1)
	var actions []types.TransactWriteItem
	for _, field := range slices.Sorted(maps.Keys(steps)) {
		maps.DeleteFunc(steps[field], func(_ string, by int64) bool { return by == 0 })
		if len(steps[field]) > 0 {
			actions = append(actions, types.TransactWriteItem{Update: s.step(field, steps[field])})
		}
	}
	return actions
}

// step changes one field's counts. A project's name stands in the expression as a placeholder: it may hold any character.
func (s *Store) step(field string, changes map[string]int64) *types.Update {
	names := map[string]string{"#name": "name", "#usage": "usage"}
	values := dynamo.Item{":zero": dynamo.N(0)}
	expression := "SET "
	for i, project := range slices.Sorted(maps.Keys(changes)) {
		placeholder := string(rune('a' + i)) // at most two: where the toggle was, and where it is
		names["#"+placeholder], values[":"+placeholder] = project, dynamo.N(changes[project])
		if i > 0 {
			expression += ", "
		}
		expression += "#usage.#" + placeholder + " = if_not_exists(#usage.#" + placeholder + ", :zero) + :" + placeholder
	}
	return &types.Update{
		TableName: &s.contextFields, Key: dynamo.Item{"name": dynamo.S(field)},
		ConditionExpression: aws.String("attribute_exists(#name)"), UpdateExpression: &expression,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}
}
