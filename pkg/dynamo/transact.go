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

// Failure reports whether the condition of one action of a transaction failed.
type Failure struct {
	Failed bool
	Item   Item // the stored item, if the action requested ALL_OLD and the item exists
}

// Transact writes all actions or none. It sends the same transaction again, with jitter, until the context ends, if it conflicted with another
// one, was throttled, or if its result is unknown. If the context ends first, the error is ErrUnavailable. A transaction whose conditions
// failed is not an error: Transact returns one Failure per action. If the actions were written, it returns nil.
//
// DynamoDB remembers the client request token for ten minutes and carries out the transaction only once in this time (DynamoDB API Reference,
// TransactWriteItems). The context must end earlier. An engine that forgets the token, for example when it is restarted, evaluates the
// conditions again: then those of a transaction that was written may fail.
func Transact(ctx context.Context, client *dynamodb.Client, actions []types.TransactWriteItem) ([]Failure, error) {
	input := &dynamodb.TransactWriteItemsInput{TransactItems: actions, ClientRequestToken: aws.String(rand.Text())}
	var unknown error // errResultUnknown if the result of an attempt is unknown
	for attempt := 1; ; attempt++ {
		_, err := client.TransactWriteItems(ctx, input)
		if err == nil {
			return nil, nil
		}
		if ResultUnknown(err) {
			unknown = errResultUnknown
		}
		if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			failures, err := readReasons(canceled)
			if failures != nil || err != nil {
				return failures, err
			}
		} else if unknown == nil || !errors.Is(err, ErrUnavailable) {
			return nil, errors.Join(err, unknown)
		}
		if end := Pause(ctx, attempt); end != nil {
			return nil, errors.Join(fmt.Errorf("repeat a transaction: %w", end), err, unknown)
		}
	}
}

// readReasons returns the failures if a condition failed, an error for a reason that a retry cannot fix, and otherwise neither.
func readReasons(canceled *types.TransactionCanceledException) (failures []Failure, err error) {
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
