package stalenessindex

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Flags finds the toggles whose flag PotentiallyStale must change, and flips it. It is safe for concurrent use.
type Flags struct {
	client *dynamodb.Client
	table  string
	log    *eventlog.Log
}

// NewFlags returns the flags of the table Features. It records flips in log, which can be nil if there are none.
func NewFlags(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Flags {
	return &Flags{client: client, table: tables[featuretable.Table], log: log}
}

// query returns the query of the toggles of a range.
func (s *Flags) query(r Range) *dynamodb.QueryInput {
	condition := expression.Key(featuretable.AttributeStaleness).Equal(expression.Value(r.key()))
	if r.Cutoff != nil {
		created := expression.Key(featuretable.AttributeCreatedAt)
		cutoff := expression.Value(dynamo.Time(*r.Cutoff))
		if r.PotentiallyStale {
			condition = condition.And(created.GreaterThan(cutoff))
		} else {
			condition = condition.And(created.LessThanEqual(cutoff))
		}
	}
	expr := dynamo.Build(expression.NewBuilder().WithKeyCondition(condition))
	return &dynamodb.QueryInput{
		TableName:                 &s.table,
		IndexName:                 aws.String(featuretable.IndexStaleness),
		KeyConditionExpression:    expr.KeyCondition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	}
}

// Pages reads the toggles of a range, page by page. The index is eventually consistent.
func (s *Flags) Pages(ctx context.Context, r Range) iter.Seq2[[]featuretable.Row, error] {
	return func(yield func([]featuretable.Row, error) bool) {
		input := s.query(r)
		for {
			out, err := s.client.Query(ctx, input)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(r.rows(out.Items), nil) || out.LastEvaluatedKey == nil {
				return
			}
			input.ExclusiveStartKey = out.LastEvaluatedKey
		}
	}
}

// rows returns the toggles in items of the index.
func (r Range) rows(items []map[string]types.AttributeValue) []featuretable.Row {
	all := make([]featuretable.Row, len(items))
	for i, item := range items {
		all[i] = featuretable.UnmarshalRow(item)
		all[i].Toggle.Type = r.Type
		all[i].Toggle.PotentiallyStale = r.PotentiallyStale
	}
	return all
}

// MaxFlips is the maximum number of toggles that one call flips: a transaction has at most 100 actions, two per toggle.
const MaxFlips = 50

// duePage is the maximum number of toggles in a page: two transactions.
const duePage = 2 * MaxFlips

// Due reads a page of a range, ordered by time of creation, in a single attempt. after is the Next of the page before;
// nil reads the first page. The index is eventually consistent.
func (s *Flags) Due(ctx context.Context, r Range, after *toggle.Feature) (Page, error) {
	if r.Cutoff == nil && !r.PotentiallyStale {
		return Page{}, nil
	}
	input := s.query(r)
	input.Limit = aws.Int32(duePage)
	if after != nil {
		input.ExclusiveStartKey = featuretable.Key(after.Name)
		input.ExclusiveStartKey[featuretable.AttributeStaleness] = dynamo.S(r.key())
		input.ExclusiveStartKey[featuretable.AttributeCreatedAt] = dynamo.Time(after.CreatedAt)
	}
	out, err := s.client.Query(ctx, input, dynamo.Once)
	if err != nil {
		return Page{}, fmt.Errorf("read toggles with the index key %q: %w", r.key(), err)
	}
	var page Page
	for _, row := range r.rows(out.Items) {
		page.Toggles = append(page.Toggles, row.Toggle)
	}
	if out.LastEvaluatedKey != nil {
		page.Next = new(featuretable.UnmarshalRow(out.LastEvaluatedKey).Toggle)
	}
	return page, nil
}

// Flips is the result of Flip.
type Flips struct {
	Done       int              // toggles that were flipped
	Superseded int              // toggles that are not in the range any more, because of another write
	Again      []toggle.Feature // toggles that are to be tried again
}

// Flip changes the flags of at most MaxFlips toggles of a range and records it, in one transaction that it does not
// repeat. Toggles that are not in the range any more are left as they are: because they were archived, marked as stale,
// flipped or deleted, because their type changed, or because they were deleted and others were created with their
// names. So are toggles whose time of creation is stored in another form. If Flip returns an error, nothing is known to
// be written; for a conflict with another transaction, a smaller number of toggles may succeed.
func (s *Flags) Flip(ctx context.Context, r Range, toggles []toggle.Feature) (Flips, error) {
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
			return r.superseded(toggles, actions.Failed(failures)), nil
		}
	}
	return Flips{}, fmt.Errorf("flip the flags of %d toggles of the type %q: %w", len(toggles), r.Type, err)
}

// superseded returns the result of a transaction with failed conditions.
func (r Range) superseded(toggles []toggle.Feature, failed map[string]dynamo.Failure) (result Flips) {
	for _, f := range toggles {
		failure := failed[actionFlip+f.Name]
		now := featuretable.UnmarshalRow(failure.Item).Toggle
		inRange := failure.Item.String(featuretable.AttributeStaleness) == r.key()
		switch {
		case !failure.Failed:
			result.Again = append(result.Again, f)
		case inRange && now.CreatedAt.Equal(f.CreatedAt) && now.LastEvent != f.LastEvent:
			// The index was behind: the toggle was written, but is still in the range.
			result.Again = append(result.Again, now)
		default:
			result.Superseded++
		}
	}
	return result
}

// The names of the actions of a transaction.
const (
	actionFlip  = "flip of " // before the name of the toggle
	actionEvent = "event"
)

// flip returns the action that flips the flag of a toggle, with the id of its event.
func (s *Flags) flip(r Range, f toggle.Feature, id int64) types.TransactWriteItem {
	staleness := expression.Name(featuretable.AttributeStaleness)
	condition := staleness.Equal(expression.Value(r.key())).
		And(expression.Name(featuretable.AttributeCreatedAt).Equal(expression.Value(dynamo.Time(f.CreatedAt)))).
		And(eventlog.HasLast(f.LastEvent))
	update := eventlog.SetLast(id).
		Set(staleness, expression.Value(featuretable.StalenessKey(r.Type, !r.PotentiallyStale, r.Shard))).
		Set(expression.Name(featuretable.AttributePotentiallyStale), expression.Value(!r.PotentiallyStale))
	return dynamo.UpdateItemOrReturn(s.table, featuretable.Key(f.Name),
		expression.NewBuilder().WithCondition(condition).WithUpdate(update))
}
