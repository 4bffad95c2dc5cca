package local

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Call is one call of DynamoDB's API by a function, as Config.OnDynamoDB is told of it.
type Call struct {
	Function string // its folder
	API      string // GetItem, TransactWriteItems, …
	Accesses []Access
	Attempts int
	Err      error // nil: it succeeded
}

// Access is what a call did to one table or index: what a policy must allow. A batch has one for each table, a transaction one for each of
// its actions.
type Access struct {
	Action     string // as policies spell it: dynamodb:PutItem
	Table      string
	Index      string  // empty: the table itself
	ReadUnits  float64 // consumed; of a transaction, at the first of a table's accesses. A failed call reports none.
	WriteUnits float64
}

// meter makes the middleware that tells of each call of a function, and asks DynamoDB for what it consumed.
func meter(function string, tell func(Call)) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Meter", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			askForCapacity(in.Parameters)
			out, metadata, err := next.HandleInitialize(ctx, in)
			call := Call{Function: function, API: middleware.GetOperationName(ctx), Accesses: accesses(in.Parameters), Err: err}
			if attempts, ok := retry.GetAttemptResults(metadata); ok {
				call.Attempts = len(attempts.Results)
			}
			addUnits(call.Accesses, out.Result)
			tell(call)
			return out, metadata, err
		}), middleware.After)
	}
}

func askForCapacity(input any) {
	const total = types.ReturnConsumedCapacityTotal
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.PutItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.DeleteItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.ScanInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.BatchGetItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.BatchWriteItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.TransactGetItemsInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = total
	}
}

// accesses says what a call asks for. A call that is not listed here has one without a table, so that a test of the policies sees it.
func accesses(input any) []Access {
	one := func(action string, table, index *string) []Access {
		return []Access{{Action: "dynamodb:" + action, Table: aws.ToString(table), Index: aws.ToString(index)}}
	}
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return one("GetItem", in.TableName, nil)
	case *dynamodb.PutItemInput:
		return one("PutItem", in.TableName, nil)
	case *dynamodb.UpdateItemInput:
		return one("UpdateItem", in.TableName, nil)
	case *dynamodb.DeleteItemInput:
		return one("DeleteItem", in.TableName, nil)
	case *dynamodb.QueryInput:
		return one("Query", in.TableName, in.IndexName)
	case *dynamodb.ScanInput:
		return one("Scan", in.TableName, in.IndexName)
	case *dynamodb.BatchGetItemInput:
		var all []Access
		for table := range in.RequestItems {
			all = append(all, one("BatchGetItem", &table, nil)...)
		}
		return all
	case *dynamodb.BatchWriteItemInput:
		var all []Access
		for table := range in.RequestItems {
			all = append(all, one("BatchWriteItem", &table, nil)...)
		}
		return all
	case *dynamodb.TransactGetItemsInput:
		var all []Access
		for i := range in.TransactItems {
			if get := in.TransactItems[i].Get; get != nil {
				all = append(all, one("GetItem", get.TableName, nil)...)
			}
		}
		return all
	case *dynamodb.TransactWriteItemsInput:
		return transactionAccesses(in.TransactItems)
	}
	return one("?", nil, nil)
}

func transactionAccesses(items []types.TransactWriteItem) []Access {
	all := make([]Access, 0, len(items))
	for i := range items {
		switch item := &items[i]; {
		case item.Put != nil:
			all = append(all, Access{Action: "dynamodb:PutItem", Table: aws.ToString(item.Put.TableName)})
		case item.Update != nil:
			all = append(all, Access{Action: "dynamodb:UpdateItem", Table: aws.ToString(item.Update.TableName)})
		case item.Delete != nil:
			all = append(all, Access{Action: "dynamodb:DeleteItem", Table: aws.ToString(item.Delete.TableName)})
		case item.ConditionCheck != nil:
			all = append(all, Access{Action: "dynamodb:ConditionCheckItem", Table: aws.ToString(item.ConditionCheck.TableName)})
		}
	}
	return all
}

// addUnits gives the consumed units to the first access of their table.
func addUnits(all []Access, output any) {
	var reads, writes []types.ConsumedCapacity
	one := func(c *types.ConsumedCapacity) []types.ConsumedCapacity {
		if c == nil {
			return nil
		}
		return []types.ConsumedCapacity{*c}
	}
	switch out := output.(type) {
	case *dynamodb.GetItemOutput:
		reads = one(out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		writes = one(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		writes = one(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		writes = one(out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		reads = one(out.ConsumedCapacity)
	case *dynamodb.ScanOutput:
		reads = one(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		reads = out.ConsumedCapacity
	case *dynamodb.BatchWriteItemOutput:
		writes = out.ConsumedCapacity
	case *dynamodb.TransactGetItemsOutput:
		reads = out.ConsumedCapacity
	case *dynamodb.TransactWriteItemsOutput:
		writes = out.ConsumedCapacity
	}
	for i := range reads {
		if a := accessOf(all, &reads[i]); a != nil {
			a.ReadUnits += aws.ToFloat64(reads[i].CapacityUnits)
		}
	}
	for i := range writes {
		if a := accessOf(all, &writes[i]); a != nil {
			a.WriteUnits += aws.ToFloat64(writes[i].CapacityUnits)
		}
	}
}

func accessOf(all []Access, consumed *types.ConsumedCapacity) *Access {
	for i := range all {
		if all[i].Table == aws.ToString(consumed.TableName) {
			return &all[i]
		}
	}
	return nil
}
