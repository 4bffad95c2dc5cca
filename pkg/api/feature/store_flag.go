package feature

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

const (
	// indexStaleness has the attribute staleness as its partition key and createdAt as its sort key.
	indexStaleness = "staleness"
	// flagPage is the maximum number of toggles in a page: two transactions.
	flagPage = 2 * MaxFlips
)

// inIndex returns the query of the toggles with a partition key of the staleness index.
func (s *Store) inIndex(partition string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: &s.features, IndexName: aws.String(indexStaleness),
		KeyConditionExpression:    aws.String("#staleness = :staleness"),
		ExpressionAttributeNames:  map[string]string{"#staleness": attributeStaleness},
		ExpressionAttributeValues: dynamo.Item{":staleness": dynamo.S(partition)},
	}
}

// Due reads a page of a range, ordered by time of creation, in a single attempt. after is the Next of the page before;
// nil reads the first page. The index is eventually consistent.
func (s *Store) Due(ctx context.Context, r Range, after *toggle.Feature) (Page, error) {
	if r.Cutoff == nil && !r.PotentiallyStale {
		return Page{}, nil
	}
	partition := r.key()
	input := s.inIndex(partition)
	input.Limit = aws.Int32(flagPage)
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
			"name": dynamo.S(after.Name), "createdAt": dynamo.Time(after.CreatedAt), attributeStaleness: dynamo.S(partition),
		}
	}
	out, err := s.client.Query(ctx, input, dynamo.Once)
	if err != nil {
		return Page{}, fmt.Errorf("read toggles with the index key %q: %w", partition, err)
	}
	var page Page
	for _, item := range out.Items {
		f := fromItem(item)
		f.Type, f.PotentiallyStale = r.Type, r.PotentiallyStale
		page.Toggles = append(page.Toggles, f)
	}
	if out.LastEvaluatedKey != nil {
		page.Next = new(fromItem(out.LastEvaluatedKey))
	}
	return page, nil
}

// MaxFlips is the maximum number of toggles that one call flips: a transaction has at most 100 actions, two per toggle.
const MaxFlips = 50

// Flips is the result of Flip.
type Flips struct {
	Done      int              // toggles that were flipped
	Overtaken int              // toggles that are not in the range any more, because of another write
	Again     []toggle.Feature // toggles that are to be tried again
}

// Flip changes the flags of at most MaxFlips toggles of a range and records it, in one transaction that it does not
// repeat. Toggles that are not in the range any more are left as they are: because they were archived, marked as stale,
// flipped or deleted, because their type changed, or because they were deleted and others were created with their
// names. So are toggles whose time of creation is stored in another form. If Flip returns an error, nothing is known to
// be written; for a conflict with another transaction, a smaller number of toggles may succeed.
func (s *Store) Flip(ctx context.Context, r Range, toggles []toggle.Feature) (Flips, error) {
	var actions dynamo.Actions
	for _, f := range toggles {
		id, record, err := s.log.RecordActions(ctx, r.record(f))
		if err != nil {
			return Flips{}, err
		}
		actions.Add(actionFlip+f.Name, s.flip(r, f, id))
		actions.Add(actionEvent, record...) // it fails if the id of the event was used
	}
	input := &dynamodb.TransactWriteItemsInput{TransactItems: actions.List()}
	_, err := s.client.TransactWriteItems(ctx, input, dynamo.Once)
	if err == nil {
		return Flips{Done: len(toggles)}, nil
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		if failures, _ := dynamo.Failures(canceled); failures != nil {
			return r.overtaken(toggles, actions.Failed(failures)), nil
		}
	}
	return Flips{}, fmt.Errorf("flip the flags of %d toggles of the type %q: %w", len(toggles), r.Type, err)
}

// overtaken returns the result of a transaction with failed conditions.
func (r Range) overtaken(toggles []toggle.Feature, failed map[string]dynamo.Failure) (result Flips) {
	for _, f := range toggles {
		stored := failed[actionFlip+f.Name]
		now := fromItem(stored.Item)
		switch {
		case !stored.Failed:
			result.Again = append(result.Again, f)
		case stored.Item.String(attributeStaleness) == r.key() && now.CreatedAt.Equal(f.CreatedAt) &&
			now.LastEvent != f.LastEvent:
			// The index was behind: the toggle was written, but is still in the range.
			result.Again = append(result.Again, now)
		default:
			result.Overtaken++
		}
	}
	return result
}

// actionFlip is the name of the action that flips the flag of a toggle, before the name of the toggle.
const actionFlip = "flip of "

// flip returns the action that flips the flag of a toggle, with the id of its event.
func (s *Store) flip(r Range, f toggle.Feature, id int64) types.TransactWriteItem {
	names := map[string]string{"#staleness": attributeStaleness, "#createdAt": "createdAt", "#flag": attributeFlag}
	values := dynamo.Item{
		":old": dynamo.S(r.key()), ":createdAt": dynamo.Time(f.CreatedAt), ":flag": dynamo.Bool(!r.PotentiallyStale),
		":new": dynamo.S(StalenessKey(r.Type, !r.PotentiallyStale, r.Shard)),
	}
	condition, assignment := eventlog.Guard(f.LastEvent, id, names, values)
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.features, Key: key(f.Name),
		ConditionExpression:      aws.String("#staleness = :old AND #createdAt = :createdAt AND " + condition),
		UpdateExpression:         aws.String("SET #staleness = :new, #flag = :flag, " + assignment),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}
