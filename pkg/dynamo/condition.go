package dynamo

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/apierror"
)

// FailedCondition says whether err is the failed condition of a single write.
func FailedCondition(err error) bool {
	_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
	return failed
}

// Failure is what one action of a transaction says about a failed condition.
type Failure struct {
	Failed bool // this action's condition did not hold
	Item   Item // the item as it is, where the action asked for ALL_OLD and the item exists
}

// errConflict is the cause in the log when a transaction lost against others until its time was over.
var errConflict = errors.New("a transaction met others on the same items until its time was over")

// Transact writes all or nothing. A conflict with another transaction is tried again, with jitter, until the context ends; then, like
// any fault below, it is an error of kind Unavailable and nothing is written. A transaction whose conditions failed is no error: it
// gives one Failure per action; nil means that it was written.
func Transact(ctx context.Context, client *dynamodb.Client, actions []types.TransactWriteItem) ([]Failure, error) {
	input := &dynamodb.TransactWriteItemsInput{TransactItems: actions}
	unanswered := error(nil) // an attempt before the last that got no answer
	for attempt := 1; ; attempt++ {
		_, err := client.TransactWriteItems(ctx, input)
		if err == nil {
			return nil, nil
		}
		canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok {
			return nil, errors.Join(err, unanswered)
		}
		if Unanswered(err) {
			unanswered = errUnanswered
		}
		failures, failed, other := conditions(canceled)
		switch {
		case failed:
			return failures, nil
		case other != nil:
			return nil, apierror.NewUnavailable(errors.Join(other, err))
		}
		if err := Pause(ctx, attempt); err != nil {
			return nil, apierror.NewUnavailable(errors.Join(errConflict, err, unanswered))
		}
	}
}

// conditions reads the reasons: failed is set when a condition did not hold; other is a reason that trying again does not mend.
func conditions(canceled *types.TransactionCanceledException) (failures []Failure, failed bool, other error) {
	failures = make([]Failure, len(canceled.CancellationReasons))
	for i, reason := range canceled.CancellationReasons {
		switch code := aws.ToString(reason.Code); code {
		case "ConditionalCheckFailed":
			failures[i], failed = Failure{Failed: true, Item: reason.Item}, true
		case "", "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default:
			other = errors.New("transaction canceled: " + code)
		}
	}
	return failures, failed, other
}
