package featuretable

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/dynamo"
)

// EncodeLastSeen returns the value of AttributeLastSeen: for each environment its name and the time in seconds since
// 1970, separated by spaces. It is one attribute with a short text, because searches read it of all toggles.
func EncodeLastSeen(lastSeen map[string]time.Time) string {
	var parts []string
	for _, environment := range slices.Sorted(maps.Keys(lastSeen)) {
		parts = append(parts, fmt.Sprintf("%s %d", environment, lastSeen[environment].Unix()))
	}
	return strings.Join(parts, " ")
}

// DecodeLastSeen reads the value of AttributeLastSeen. It ignores what EncodeLastSeen did not write.
func DecodeLastSeen(value string) map[string]time.Time {
	var lastSeen map[string]time.Time
	for environment, at := range lastSeenOf(value) {
		if lastSeen == nil {
			lastSeen = map[string]time.Time{}
		}
		lastSeen[environment] = time.Unix(at, 0).UTC()
	}
	return lastSeen
}

// lastSeenOf yields the environments and times of a value.
func lastSeenOf(value string) iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for value != "" {
			var environment, seconds string
			environment, value, _ = strings.Cut(value, " ")
			seconds, value, _ = strings.Cut(value, " ")
			at, err := strconv.ParseInt(seconds, 10, 64)
			if err == nil && !yield(environment, at) {
				return
			}
		}
	}
}

// UpdateLastSeen stores when applications used a toggle, by environment, in the table Features. It changes
// nothing, and returns false, if the toggle does not exist or has another createdAt, as one that was created again, or
// other times than before are stored. It has no condition on what people change, and records no event.
func UpdateLastSeen(
	ctx context.Context, client *dynamodb.Client, table, feature, createdAt string,
	before, next map[string]time.Time,
) (stored bool, err error) {
	attribute := expression.Name(AttributeLastSeen)
	unchanged := attribute.AttributeNotExists()
	if len(before) > 0 {
		unchanged = attribute.Equal(expression.Value(EncodeLastSeen(before)))
	}
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(expression.Name(AttributeCreatedAt).Equal(expression.Value(createdAt)).And(unchanged)).
		WithUpdate(expression.Set(attribute, expression.Value(EncodeLastSeen(next)))))
	_, err = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &table,
		Key:                       Key(feature),
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if dynamo.FailedCondition(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store when applications used the toggle %q: %w", feature, err)
	}
	return true, nil
}
