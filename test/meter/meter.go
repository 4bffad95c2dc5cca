// Package meter reports the DynamoDB calls that functions make: which actions on which tables, and how many capacity units they consumed.
package meter

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Call is one call of DynamoDB's API.
type Call struct {
	Function string // its folder in functions/
	API      string // GetItem, TransactWriteItems, …
	Accesses []Access
	Attempts int
	Err      error // nil: it succeeded
}

// Access is what a call does to one table or index, as IAM sees it. A batch has one for each table, a transaction one for each action.
type Access struct {
	Action     string // as in policies: dynamodb:PutItem
	Table      string
	Index      string  // empty: the table itself
	ReadUnits  float64 // consumed; of a transaction, in the first access to a table. A failed call has none.
	WriteUnits float64
}

// Options returns a local.Config's APIOptions, which report every call of a function, concurrently.
func Options(report func(Call)) func(function string) []func(*middleware.Stack) error {
	return func(function string) []func(*middleware.Stack) error {
		return []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Meter", func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				input := reflect.ValueOf(in.Parameters).Elem()
				if field := input.FieldByName("ReturnConsumedCapacity"); field.IsValid() {
					field.Set(reflect.ValueOf(types.ReturnConsumedCapacityTotal))
				}
				out, metadata, err := next.HandleInitialize(ctx, in)
				call := Call{Function: function, API: middleware.GetOperationName(ctx), Err: err}
				call.Accesses = accesses(call.API, input)
				if attempts, ok := retry.GetAttemptResults(metadata); ok {
					call.Attempts = len(attempts.Results)
				}
				if err == nil {
					addUnits(&call, reflect.ValueOf(out.Result).Elem())
				}
				report(call)
				return out, metadata, err
			}), middleware.After)
		}}
	}
}

// accesses reads a call's tables from its input, whose type is one of the SDK's.
func accesses(api string, input reflect.Value) []Access {
	text := func(v reflect.Value, name string) string {
		if field := v.FieldByName(name); field.IsValid() && !field.IsNil() {
			return field.Elem().String()
		}
		return ""
	}
	if tables := input.FieldByName("RequestItems"); tables.IsValid() { // batches
		var all []Access
		for _, table := range tables.MapKeys() {
			all = append(all, Access{Action: "dynamodb:" + api, Table: table.String()})
		}
		slices.SortFunc(all, func(a, b Access) int { return strings.Compare(a.Table, b.Table) })
		return all
	}
	items := input.FieldByName("TransactItems")
	if !items.IsValid() {
		return []Access{{Action: "dynamodb:" + api, Table: text(input, "TableName"), Index: text(input, "IndexName")}}
	}
	var all []Access
	for i := range items.Len() {
		for kind, action := range items.Index(i).Fields() { // Put, Update, Delete, ConditionCheck or Get
			if action.Kind() == reflect.Pointer && !action.IsNil() {
				all = append(all, Access{Action: "dynamodb:" + kind.Name + "Item", Table: text(action.Elem(), "TableName")})
			}
		}
	}
	return all
}

// addUnits adds the consumed units to the first access to their table.
func addUnits(call *Call, output reflect.Value) {
	field := output.FieldByName("ConsumedCapacity")
	if !field.IsValid() {
		return
	}
	var consumed []types.ConsumedCapacity
	switch value := field.Interface().(type) {
	case []types.ConsumedCapacity:
		consumed = value
	case *types.ConsumedCapacity:
		if value != nil {
			consumed = append(consumed, *value)
		}
	}
	for _, c := range consumed {
		i := slices.IndexFunc(call.Accesses, func(a Access) bool { return a.Table == aws.ToString(c.TableName) })
		switch {
		case i < 0:
		case strings.Contains(call.API, "Get"), call.API == "Query", call.API == "Scan":
			call.Accesses[i].ReadUnits += aws.ToFloat64(c.CapacityUnits)
		default:
			call.Accesses[i].WriteUnits += aws.ToFloat64(c.CapacityUnits)
		}
	}
}
