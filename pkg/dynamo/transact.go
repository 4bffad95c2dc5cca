package dynamo

import (
	"context"
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

// Transact writes all actions or none. It retries a transaction that conflicted with another one or was throttled, with jitter, until the
// context ends; then the error is ErrUnavailable. A transaction whose conditions failed is not an error: Transact returns one Failure per
// action. If the actions were written, it returns nil.
func Transact(ctx context.Context, client *dynamodb.Client, actions []types.TransactWriteItem) ([]Failure, error) {
	// The SDK sets ClientRequestToken here once, so that DynamoDB carries out a retried transaction only once.
	input := &dynamodb.TransactWriteItemsInput{TransactItems: actions}
	var unknown error // errResultUnknown if the result of an earlier attempt is unknown
	for attempt := 1; ; attempt++ {
		_, err := client.TransactWriteItems(ctx, input)
		if err == nil {
			return nil, nil
		}
		canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok {
			return nil, errors.Join(err, unknown)
		}
		if ResultUnknown(err) {
			unknown = errResultUnknown
		}
		failures, err := readReasons(canceled)
		if failures != nil || err != nil {
			return failures, err
		}
		if err := Pause(ctx, attempt); err != nil {
			return nil, errors.Join(fmt.Errorf("repeat a transaction: %w", err), canceled, unknown)
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
