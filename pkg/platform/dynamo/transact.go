package dynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// MaxActions is the maximum number of actions of a transaction (DynamoDB API Reference, TransactWriteItems).
const MaxActions = 100

// MaxTransaction is the maximum size of the items of a transaction, in bytes (the same page).
const MaxTransaction = 4 << 20

// Failure reports whether the condition of one action of a transaction failed.
type Failure struct {
	Failed bool
	Item   Item // the stored item, if the action requested ALL_OLD and the item exists
}

// Transact writes all actions or none. It sends the same transaction again, with jitter, until the context ends, if it
// conflicted with another one, was throttled, or if its result is unknown. If the context ends first, the error is
// ErrUnavailable. A transaction whose conditions failed is not an error: Transact returns one Failure per action. If
// the actions were written, it returns nil.
//
// DynamoDB stores the client request token for ten minutes and writes the transaction only once in this time (DynamoDB
// API Reference, TransactWriteItems). The context must end earlier. An engine that loses the token, for example when it
// is restarted, evaluates the conditions again: then those of a transaction that was written may fail.
func Transact(ctx context.Context, client *dynamodb.Client, actions []types.TransactWriteItem) ([]Failure, error) {
	failures, _, err := TransactReportingUnknown(ctx, client, actions)
	return failures, err
}

// TransactReportingUnknown is Transact. If it returns failures and the result of an earlier attempt is unknown, it also
// returns an error for which ResultUnknown is true: that attempt may have been written, or may be written later,
// because DynamoDB does not store the token of a canceled transaction.
func TransactReportingUnknown(ctx context.Context, client *dynamodb.Client, actions []types.TransactWriteItem) (
	failures []Failure, unknown, err error,
) {
	input := &dynamodb.TransactWriteItemsInput{TransactItems: actions, ClientRequestToken: aws.String(rand.Text())}
	for attempt := 1; ; attempt++ {
		_, err := client.TransactWriteItems(ctx, input)
		if err == nil {
			return nil, nil, nil
		}
		if ResultUnknown(err) {
			unknown = errResultUnknown
		}
		if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			failures, err := Failures(canceled)
			if failures != nil || err != nil {
				return failures, unknown, err
			}
		} else if unknown == nil || !errors.Is(err, ErrUnavailable) {
			return nil, nil, errors.Join(err, unknown)
		}
		if end := Pause(ctx, attempt); end != nil {
			return nil, nil, errors.Join(fmt.Errorf("repeat a transaction: %w", end), err, unknown)
		}
	}
}

// Failures returns one Failure per action if a condition failed, an error for a reason that a retry cannot fix, and
// otherwise neither.
func Failures(canceled *types.TransactionCanceledException) (failures []Failure, err error) {
	all, failed := make([]Failure, len(canceled.CancellationReasons)), false
	for i, reason := range canceled.CancellationReasons {
		switch code := aws.ToString(reason.Code); code {
		case "ConditionalCheckFailed":
			all[i], failed = Failure{Failed: true, Item: reason.Item}, true
		case "", "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default:
			err = fmt.Errorf("reason %s: %w", code, canceled)
		}
	}
	if failed {
		return all, nil
	}
	return nil, err
}
