package calls_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// unitMeter writes down the write units of each transaction of one function. Any other call fails the count.
type unitMeter struct{ calls []string }

func (m *unitMeter) install(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Units", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		if transaction, ok := in.Parameters.(*dynamodb.TransactWriteItemsInput); ok {
			transaction.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		}
		out, metadata, err := next.HandleInitialize(ctx, in)
		transaction, ok := out.Result.(*dynamodb.TransactWriteItemsOutput)
		switch {
		case err != nil:
			m.calls = append(m.calls, "failed")
		case !ok || len(transaction.ConsumedCapacity) != 1:
			m.calls = append(m.calls, middleware.GetOperationName(ctx))
		default:
			m.calls = append(m.calls, fmt.Sprint(aws.ToFloat64(transaction.ConsumedCapacity[0].CapacityUnits), "w"))
		}
		return out, metadata, err
	}), middleware.After)
}
