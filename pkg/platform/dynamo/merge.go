package dynamo

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrSameItem means that the parts of a transaction have different actions on the same item, which DynamoDB rejects.
var ErrSameItem = errors.New("different actions on the same item")

// Merge returns the actions of the parts of a transaction, which were planned separately. A condition that several parts
// have is left out once it is there. Its error wraps ErrSameItem. Only actions with keys are compared: parts put
// different items.
func Merge(parts ...[]types.TransactWriteItem) ([]types.TransactWriteItem, error) {
	var all []types.TransactWriteItem
	byKey := map[string]types.TransactWriteItem{}
	for _, part := range parts {
		for _, action := range part {
			key, ok := keyOf(action)
			if before, repeated := byKey[key]; ok && repeated {
				if action.ConditionCheck == nil || !reflect.DeepEqual(before, action) {
					return nil, fmt.Errorf("%w: %s", ErrSameItem, key)
				}
				continue
			}
			if ok {
				byKey[key] = action
			}
			all = append(all, action)
		}
	}
	return all, nil
}

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
