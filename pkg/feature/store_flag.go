package feature

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
)

const (
	// indexStaleness has the attribute staleness as its partition key and createdAt as its sort key.
	indexStaleness = "staleness"
	// flagPage is the maximum number of toggles in a page: each has about 90 bytes in the index, so a page is one read unit of 8 KB.
	flagPage = 80
)

// FlagStore finds toggles in the staleness index and flips their flags. Each call is a single attempt. It is safe for concurrent use.
type FlagStore struct {
	client   *dynamodb.Client
	features string
	source   string // of events; empty: flips are not announced
}

// NewFlagStore returns a store on the table Features. If source is not empty, flips are announced with events of this source.
func NewFlagStore(client *dynamodb.Client, tables dynamo.Tables, source string) *FlagStore {
	return &FlagStore{client, tables.Features, source}
}

// Due reads a page of a range, ordered by time of creation. after is the Next of the page before; nil reads the first page. The index is
// eventually consistent.
func (s *FlagStore) Due(ctx context.Context, r Range, after *Indexed) (Page, error) {
	if r.Cutoff == nil && !r.PotentiallyStale {
		return Page{}, nil
	}
	partition := StalenessKey(r.Type, r.PotentiallyStale, r.Shard)
	input := &dynamodb.QueryInput{
		TableName: &s.features, IndexName: aws.String(indexStaleness), Limit: aws.Int32(flagPage),
		KeyConditionExpression:    aws.String("#staleness = :staleness"),
		ExpressionAttributeNames:  map[string]string{"#staleness": attributeStaleness},
		ExpressionAttributeValues: dynamo.Item{":staleness": dynamo.S(partition)},
	}
	if r.Cutoff != nil {
		comparison := " AND #createdAt <= :cutoff"
		if r.PotentiallyStale {
			comparison = " AND #createdAt > :cutoff"
		}
		*input.KeyConditionExpression += comparison
		input.ExpressionAttributeNames["#createdAt"] = "createdAt"
		input.ExpressionAttributeValues[":cutoff"] = dynamo.Time(*r.Cutoff)
	}
	if after != nil {
		input.ExclusiveStartKey = dynamo.Item{
			"name": dynamo.S(after.Name), "createdAt": dynamo.S(after.CreatedAt), attributeStaleness: dynamo.S(partition),
		}
	}
	out, err := s.client.Query(ctx, input, dynamo.Once)
	if err != nil {
		return Page{}, fmt.Errorf("read toggles with the index key %q: %w", partition, err)
	}
	var page Page
	for _, item := range out.Items {
		page.Toggles = append(page.Toggles, indexedFromItem(item))
	}
	if out.LastEvaluatedKey != nil {
		page.Next = new(indexedFromItem(out.LastEvaluatedKey))
	}
	return page, nil
}

func indexedFromItem(item dynamo.Item) Indexed {
	return Indexed{Name: item.String("name"), CreatedAt: item.String("createdAt")}
}

// Flip changes the flag of a toggle of a range and returns the announcements that are to be sent. It returns false if the toggle is not in
// the range any more: because it was archived, marked as stale, flipped or deleted, because its type changed, or because it was deleted and
// another one was created with its name.
func (s *FlagStore) Flip(ctx context.Context, r Range, t Indexed, now time.Time) (flipped bool, p Pending, err error) {
	input := &dynamodb.UpdateItemInput{
		TableName: &s.features, Key: key(t.Name),
		ConditionExpression: aws.String("#staleness = :old AND #createdAt = :createdAt"),
		UpdateExpression:    aws.String("SET #staleness = :new, #flag = :flag"),
		ExpressionAttributeNames: map[string]string{
			"#staleness": attributeStaleness, "#createdAt": "createdAt", "#flag": attributeFlag,
		},
		ExpressionAttributeValues: dynamo.Item{
			":old": dynamo.S(StalenessKey(r.Type, r.PotentiallyStale, r.Shard)), ":createdAt": dynamo.S(t.CreatedAt),
			":new": dynamo.S(StalenessKey(r.Type, !r.PotentiallyStale, r.Shard)), ":flag": dynamo.Bool(!r.PotentiallyStale),
		},
	}
	if s.source != "" {
		announce(input, r, t, now)
	}
	out, err := s.client.UpdateItem(ctx, input, dynamo.Once)
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		old := dynamo.Item(failed.Item)
		if len(old.List(attributePending)) < maxPending {
			return false, Pending{}, nil
		}
		if err := s.detach(ctx, old); err != nil {
			return false, Pending{}, err
		}
		return s.Flip(ctx, r, t, now)
	}
	if err != nil {
		return false, Pending{}, fmt.Errorf("flip the flag of toggle %q: %w", t.Name, err)
	}
	return true, pendingFromItem(s.source, out.Attributes), nil
}

// announce adds the announcement of a flip to its update, which then returns the item.
func announce(input *dynamodb.UpdateItemInput, r Range, t Indexed, now time.Time) {
	a := announcement{featureType: r.Type, lifetimeDays: r.LifetimeDays, at: now}
	if r.PotentiallyStale {
		a.reason = event.LifetimeChanged
	}
	assignments := a.update(t.Name, input.ExpressionAttributeNames, input.ExpressionAttributeValues)
	*input.UpdateExpression += ", " + strings.Join(assignments, ", ")
	*input.ConditionExpression += " AND (attribute_not_exists(#pending) OR size(#pending) < :most)"
	input.ExpressionAttributeValues[":most"] = dynamo.N(maxPending)
	input.ReturnValues = types.ReturnValueAllNew
	input.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
}
