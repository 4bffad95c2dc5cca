package dynamo

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrSameItem means that the parts of a transaction have different actions on the same item, which DynamoDB rejects.
var ErrSameItem = errors.New("different actions on the same item")

// Merge returns the actions of the parts of a transaction, which were planned separately. Conditions of several parts on
// the same item become one action, in the place of the first. Its error wraps ErrSameItem. Only actions with keys are
// compared: parts put different items.
func Merge(parts ...[]types.TransactWriteItem) ([]types.TransactWriteItem, error) {
	var all []types.TransactWriteItem
	places := map[string]int{} // in all, by key
	for _, part := range parts {
		for _, action := range part {
			key, ok := keyOf(action)
			i, repeated := places[key]
			switch {
			case !ok || !repeated:
				if ok {
					places[key] = len(all)
				}
				all = append(all, action)
			case action.ConditionCheck == nil || all[i].ConditionCheck == nil:
				return nil, fmt.Errorf("%w: %s", ErrSameItem, key)
			case !reflect.DeepEqual(all[i], action):
				all[i].ConditionCheck = both(*all[i].ConditionCheck, *action.ConditionCheck)
			}
		}
	}
	return all, nil
}

// both returns the action with the conditions of two actions on the same item.
func both(a, b types.ConditionCheck) *types.ConditionCheck {
	// The expressions use the same placeholders for different names and values.
	prefix := fmt.Sprintf("${1}%d_", len(a.ExpressionAttributeNames))
	renamed := func(text string) string { return placeholder.ReplaceAllString(text, prefix) }
	names, values := maps.Clone(a.ExpressionAttributeNames), maps.Clone(a.ExpressionAttributeValues)
	if names == nil {
		names = map[string]string{}
	}
	if values == nil {
		values = map[string]types.AttributeValue{}
	}
	for name, attribute := range b.ExpressionAttributeNames {
		names[renamed(name)] = attribute
	}
	for name, value := range b.ExpressionAttributeValues {
		values[renamed(name)] = value
	}
	if len(values) == 0 {
		values = nil // DynamoDB rejects an empty map
	}
	a.ConditionExpression = aws.String(
		"(" + *a.ConditionExpression + ") AND (" + renamed(*b.ConditionExpression) + ")")
	a.ExpressionAttributeNames, a.ExpressionAttributeValues = names, values
	if b.ReturnValuesOnConditionCheckFailure != "" {
		a.ReturnValuesOnConditionCheckFailure = b.ReturnValuesOnConditionCheckFailure
	}
	return &a
}

// placeholder matches the beginning of the placeholders of an expression.
var placeholder = regexp.MustCompile(`([#:])`)

// keyOf returns a text for the table and the key of an action. ok is false for a put, which has no key.
func keyOf(a types.TransactWriteItem) (text string, ok bool) {
	switch {
	case a.ConditionCheck != nil:
		return keyText(*a.ConditionCheck.TableName, a.ConditionCheck.Key), true
	case a.Update != nil:
		return keyText(*a.Update.TableName, a.Update.Key), true
	case a.Delete != nil:
		return keyText(*a.Delete.TableName, a.Delete.Key), true
	}
	return "", false
}

func keyText(table string, key Item) string {
	parts := []string{table}
	for _, name := range slices.Sorted(maps.Keys(key)) {
		switch value := key[name].(type) {
		case *types.AttributeValueMemberS:
			parts = append(parts, name+"="+value.Value)
		case *types.AttributeValueMemberN:
			parts = append(parts, name+"="+value.Value)
		}
	}
	return strings.Join(parts, " ")
}
