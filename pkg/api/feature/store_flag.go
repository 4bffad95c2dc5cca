package feature

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	// indexStaleness has the attribute staleness as its partition key and createdAt as its sort key.
	indexStaleness = "staleness"
	// flagPage is the maximum number of toggles in a page: two transactions.
	flagPage = 2 * MaxFlips
)

// FlagStore finds toggles in the staleness index and flips their flags. Each call is a single attempt. It is safe for
// concurrent use.
type FlagStore struct {
	client   *dynamodb.Client
	features string
	log      *eventlog.Log
}

// NewFlagStore returns a store on the table Features that records flips in log.
func NewFlagStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *FlagStore {
	return &FlagStore{client, tables.Features, log}
}

// Due reads a page of a range, ordered by time of creation. after is the Next of the page before; nil reads the first
// page. The index is eventually consistent.
func (s *FlagStore) Due(ctx context.Context, r Range, after *Indexed) (Page, error) {
	if r.Cutoff == nil && !r.PotentiallyStale {
		return Page{}, nil
	}
	partition := r.key()
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
	return Indexed{
		Name: item.String("name"), CreatedAt: item.String("createdAt"), Project: item.String("project"),
		LastEvent: item.Int(eventlog.AttributeEvent),
	}
}

// MaxFlips is the maximum number of toggles that one call flips: a transaction has at most 100 actions, two per toggle.
const MaxFlips = 50

// Flips is the result of Flip.
type Flips struct {
	Done      int       // toggles that were flipped
	Overtaken int       // toggles that are not in the range any more, because of another write
	Again     []Indexed // toggles that are to be tried again
}

// Flip changes the flags of at most MaxFlips toggles of a range and records it, in one transaction. Toggles that are
// not in the range any more are left as they are: because they were archived, marked as stale, flipped or deleted,
// because their type changed, or because they were deleted and others were created with their names. If it returns an
// error, nothing is known to be written; for a conflict with another transaction, a smaller number of toggles may
// succeed.
func (s *FlagStore) Flip(ctx context.Context, r Range, toggles []Indexed) (Flips, error) {
	input := &dynamodb.TransactWriteItemsInput{}
	for _, t := range toggles {
		id, record, err := s.log.Record(ctx, r.flip(t))
		if err != nil {
			return Flips{}, err
		}
		input.TransactItems = append(append(input.TransactItems, s.flip(r, t, id)), record...)
	}
	_, err := s.client.TransactWriteItems(ctx, input, dynamo.Once)
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		if err != nil {
			return Flips{}, fmt.Errorf("flip the flags of %d toggles of the type %q: %w", len(toggles), r.Type, err)
		}
		return Flips{Done: len(toggles)}, nil
	}
	return s.canceled(r, toggles, canceled)
}

// canceled returns which toggles of a transaction that was canceled are to be tried again. If no condition failed, it
// returns the error.
func (s *FlagStore) canceled(r Range, toggles []Indexed, canceled *types.TransactionCanceledException) (Flips, error) {
	if len(canceled.CancellationReasons) != 2*len(toggles) {
		return Flips{}, fmt.Errorf("flip the flags of %d toggles: %w", len(toggles), canceled)
	}
	var result Flips
	failed := false
	for i, t := range toggles {
		reason := canceled.CancellationReasons[2*i]
		if aws.ToString(reason.Code) != "ConditionalCheckFailed" {
			// its id was used
			failed = failed || aws.ToString(canceled.CancellationReasons[2*i+1].Code) == "ConditionalCheckFailed"
			result.Again = append(result.Again, t)
			continue
		}
		failed = true
		// The index may be behind: the toggle was written, but is still in the range.
		item := dynamo.Item(reason.Item)
		if now := indexedFromItem(item); item.String(attributeStaleness) == r.key() && now.CreatedAt == t.CreatedAt {
			result.Again = append(result.Again, now)
		} else {
			result.Overtaken++
		}
	}
	if !failed {
		return Flips{}, fmt.Errorf("flip the flags of %d toggles of the type %q: %w", len(toggles), r.Type, canceled)
	}
	return result, nil
}

// flip returns the action that flips the flag of a toggle, with the id of its event.
func (s *FlagStore) flip(r Range, t Indexed, id int64) types.TransactWriteItem {
	names := map[string]string{"#staleness": attributeStaleness, "#createdAt": "createdAt", "#flag": attributeFlag}
	values := dynamo.Item{
		":old": dynamo.S(r.key()), ":createdAt": dynamo.S(t.CreatedAt), ":flag": dynamo.Bool(!r.PotentiallyStale),
		":new": dynamo.S(StalenessKey(r.Type, !r.PotentiallyStale, r.Shard)),
	}
	condition, assignment := eventlog.Guard(t.LastEvent, id, names, values)
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.features, Key: key(t.Name),
		ConditionExpression:      aws.String("#staleness = :old AND #createdAt = :createdAt AND " + condition),
		UpdateExpression:         aws.String("SET #staleness = :new, #flag = :flag, " + assignment),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}
