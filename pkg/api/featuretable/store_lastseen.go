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

// EncodeTimes returns times as one attribute: for each environment its name and the time in seconds since 1970, separated
// by spaces. It is a short text, because searches read it of all toggles.
func EncodeTimes(times map[string]time.Time) string {
	var parts []string
	for _, environment := range slices.Sorted(maps.Keys(times)) {
		parts = append(parts, fmt.Sprintf("%s %d", environment, times[environment].Unix()))
	}
	return strings.Join(parts, " ")
}

// DecodeTimes reads what EncodeTimes returns. It ignores the rest of a value.
func DecodeTimes(value string) map[string]time.Time {
	var times map[string]time.Time
	for environment, at := range timesOf(value) {
		if times == nil {
			times = map[string]time.Time{}
		}
		times[environment] = time.Unix(at, 0).UTC()
	}
	return times
}

// timesOf yields the environments and times of a value.
func timesOf(value string) iter.Seq2[string, int64] {
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

// Seen is when applications used a toggle, by environment, in seconds.
type Seen struct {
	CreatedAt string // of the toggle
	First     map[string]time.Time
	Last      map[string]time.Time // not nil
}

// GetSeen returns when applications used toggles, by their names, without toggles that do not exist.
func GetSeen(ctx context.Context, client *dynamodb.Client, table string, names []string) (map[string]Seen, error) {
	keys := make([]dynamo.Item, len(names))
	for i, name := range names {
		keys[i] = Key(name)
	}
	items, err := dynamo.GetAll(ctx, client, table, keys, Hash, AttributeCreatedAt, AttributeFirstSeen, AttributeLastSeen)
	all := map[string]Seen{}
	for _, item := range items {
		seen := Seen{item.String(AttributeCreatedAt), DecodeTimes(item.String(AttributeFirstSeen)), map[string]time.Time{}}
		maps.Copy(seen.Last, DecodeTimes(item.String(AttributeLastSeen)))
		all[item.String(Hash)] = seen
	}
	return all, err
}

// with returns s with other last times. One in a new environment is also the first, and so is one before the first,
// which an import has stored by a fast clock.
func (s Seen) with(last map[string]time.Time) Seen {
	first := map[string]time.Time{}
	maps.Copy(first, s.First)
	for environment, at := range last {
		if known, ok := first[environment]; !ok || at.Before(known) {
			first[environment] = at
		}
	}
	return Seen{s.CreatedAt, first, last}
}

// UpdateSeen stores when applications last used a toggle in the table Features, and what is stored then is next. It
// changes nothing, and returns false, if the toggle does not exist or has another createdAt, as one that was created
// again, or other times than before are stored. It has no condition on what people change, and records no event.
func UpdateSeen(
	ctx context.Context, client *dynamodb.Client, table, feature string, before Seen, last map[string]time.Time,
) (next Seen, stored bool, err error) {
	next = before.with(last)
	attribute := expression.Name(AttributeLastSeen)
	unchanged := attribute.AttributeNotExists()
	if len(before.Last) > 0 {
		unchanged = attribute.Equal(expression.Value(EncodeTimes(before.Last)))
	}
	expr := dynamo.Build(expression.NewBuilder().
		WithCondition(expression.Name(AttributeCreatedAt).Equal(expression.Value(before.CreatedAt)).And(unchanged)).
		WithUpdate(expression.Set(attribute, expression.Value(EncodeTimes(next.Last))).
			Set(expression.Name(AttributeFirstSeen), expression.Value(EncodeTimes(next.First)))))
	_, err = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &table,
		Key:                       Key(feature),
		ConditionExpression:       expr.Condition(),
		UpdateExpression:          expr.Update(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if dynamo.FailedCondition(err) {
		return Seen{}, false, nil
	}
	if err != nil {
		return Seen{}, false, fmt.Errorf("store when applications used the toggle %q: %w", feature, err)
	}
	return next, true, nil
}
