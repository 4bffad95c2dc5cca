package calls_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/dynamo"
)

// unitMeter writes down the calls of a function that no request calls, and their units: "Query 0.5r". It is safe for concurrent use.
type unitMeter struct {
	mu    sync.Mutex
	calls []string
}

func (m *unitMeter) install(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Units", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		askForUnits(in.Parameters)
		out, metadata, err := next.HandleInitialize(ctx, in)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.calls = append(m.calls, middleware.GetOperationName(ctx)+" "+consumed(out.Result, err))
		return out, metadata, err
	}), middleware.After)
}

// metered is the configuration of a function whose calls the meter sees, on the service's tables.
func (s *service) metered(t *testing.T, m *unitMeter) aws.Config {
	t.Helper()
	client := dynamo.NewHTTPClient(s.DynamoDB.Endpoint)
	t.Cleanup(client.CloseIdleConnections)
	return aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), HTTPClient: client,
		APIOptions: []func(*middleware.Stack) error{m.install},
	}
}

func askForUnits(input any) {
	const total = types.ReturnConsumedCapacityTotal
	switch in := input.(type) {
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.ScanInput:
		in.ReturnConsumedCapacity = total
	}
}

// consumed gives a call's units; of a call that these functions do not make, and of a transaction over several tables, none.
func consumed(output any, err error) string {
	units := func(c *types.ConsumedCapacity, kind string) string {
		if c == nil {
			return "?"
		}
		return fmt.Sprint(aws.ToFloat64(c.CapacityUnits), kind)
	}
	if err != nil {
		return "failed"
	}
	switch out := output.(type) {
	case *dynamodb.TransactWriteItemsOutput:
		if len(out.ConsumedCapacity) == 1 {
			return units(&out.ConsumedCapacity[0], "w")
		}
	case *dynamodb.UpdateItemOutput:
		return units(out.ConsumedCapacity, "w")
	case *dynamodb.GetItemOutput:
		return units(out.ConsumedCapacity, "r")
	case *dynamodb.QueryOutput:
		return units(out.ConsumedCapacity, "r")
	case *dynamodb.ScanOutput:
		return units(out.ConsumedCapacity, "r")
	}
	return "?"
}

// summed gives the calls so far without their order, equal ones counted: "32 Query 0.5r".
func (m *unitMeter) summed() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := map[string]int{}
	for _, call := range m.calls {
		counts[call]++
	}
	var all []string
	for call, n := range counts {
		all = append(all, fmt.Sprint(n, " ", call))
	}
	slices.Sort(all)
	return all
}
