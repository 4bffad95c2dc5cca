package main

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// meter adds up the calls of a function to DynamoDB and the read units that DynamoDB charges for them. A function can
// make calls at the same time.
type meter struct {
	mu    sync.Mutex
	calls int
	units float64
}

func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls, m.units = 0, 0
}

// add adds the meter to the middleware of a client.
func (m *meter) add(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Meter", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		in.Parameters = reportingUnits(in.Parameters)
		out, metadata, err := next.HandleInitialize(ctx, in)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.calls++
		for _, consumed := range readCapacity(out.Result) {
			m.units += *consumed.CapacityUnits
		}
		return out, metadata, err
	}), middleware.After)
}

// reportingUnits returns the input of a read that asks for the units that it consumes.
func reportingUnits(input any) any {
	switch in := input.(type) {
	case *dynamodb.QueryInput:
		metered := *in
		metered.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		return &metered
	case *dynamodb.GetItemInput:
		metered := *in
		metered.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		return &metered
	case *dynamodb.BatchGetItemInput:
		metered := *in
		metered.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		return &metered
	}
	return input
}

// readCapacity returns what the read with an output has consumed.
func readCapacity(output any) []types.ConsumedCapacity {
	var one *types.ConsumedCapacity
	switch out := output.(type) {
	case *dynamodb.QueryOutput:
		one = out.ConsumedCapacity
	case *dynamodb.GetItemOutput:
		one = out.ConsumedCapacity
	case *dynamodb.BatchGetItemOutput:
		return out.ConsumedCapacity
	}
	if one == nil {
		return nil
	}
	return []types.ConsumedCapacity{*one}
}
