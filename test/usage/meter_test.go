package usage_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/platform/dynamo"
)

// call is one call of DynamoDB's API.
type call struct {
	Function string // its folder in functions/
	API      string // GetItem, TransactWriteItems, …
	Accesses []tableAccess
	Attempts int
	Err      error // nil: it succeeded
}

// String returns the function, the API and the units for each table: "authorizer BatchGetItem 1r+1r".
func (c call) String() string {
	units := []string{}
	for _, a := range c.Accesses {
		if a.ReadUnits != 0 {
			units = append(units, fmt.Sprint(a.ReadUnits, "r"))
		}
		if a.WriteUnits != 0 {
			units = append(units, fmt.Sprint(a.WriteUnits, "w"))
		}
	}
	if c.Err != nil {
		units = []string{"failed"}
	}
	return strings.TrimSpace(c.Function + " " + c.API + " " + strings.Join(units, "+"))
}

// meter records the calls of functions. It is safe for concurrent use.
type meter struct {
	mu    sync.Mutex
	calls []call
}

func (m *meter) record(c call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, c)
}

// take returns the calls since the last take.
func (m *meter) take() []call {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := m.calls
	m.calls = nil
	return calls
}

// tableAccess is what a call does to one table or index, as IAM sees it. A batch has one for each table, a transaction
// one for each action.
type tableAccess struct {
	Action     string // as in policies: dynamodb:PutItem
	Table      string
	Index      string  // empty: the table itself
	ReadUnits  float64 // consumed; of a transaction, in the first access to a table. A failed call has none.
	WriteUnits float64
	// the partition key that a put or delete in a transaction names, if it is a string with the name id
	Leading    string
	Attributes []string // top-level attributes that an update names: of the key, and in expressions
	Returns    string   // ReturnValues of an update; empty: NONE
}

// options is a local.Config's APIOptions.
func (m *meter) options(function string) []func(*middleware.Stack) error {
	return []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Meter", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			input := reflect.ValueOf(in.Parameters).Elem()
			if field := input.FieldByName("ReturnConsumedCapacity"); field.IsValid() {
				field.Set(reflect.ValueOf(types.ReturnConsumedCapacityTotal))
			}
			out, metadata, err := next.HandleInitialize(ctx, in)
			c := call{Function: function, API: middleware.GetOperationName(ctx), Err: err}
			if awsmiddleware.GetServiceID(ctx) == dynamodb.ServiceID {
				c.Accesses = accesses(c.API, input)
			}
			if attempts, ok := retry.GetAttemptResults(metadata); ok {
				c.Attempts = len(attempts.Results)
			}
			if err == nil {
				addUnits(&c, reflect.ValueOf(out.Result).Elem())
			}
			m.record(c)
			return out, metadata, err
		}), middleware.After)
	}}
}

// accesses reads a call's tables from its input, whose type is one of the SDK's.
func accesses(api string, input reflect.Value) []tableAccess {
	text := func(v reflect.Value, name string) string {
		if field := v.FieldByName(name); field.IsValid() && !field.IsNil() {
			return field.Elem().String()
		}
		return ""
	}
	if tables := input.FieldByName("RequestItems"); tables.IsValid() { // batches
		var all []tableAccess
		for _, table := range tables.MapKeys() {
			all = append(all, tableAccess{Action: "dynamodb:" + api, Table: table.String()})
		}
		slices.SortFunc(all, func(a, b tableAccess) int { return strings.Compare(a.Table, b.Table) })
		return all
	}
	items := input.FieldByName("TransactItems")
	if !items.IsValid() {
		a := tableAccess{Action: "dynamodb:" + api, Table: text(input, "TableName"), Index: text(input, "IndexName")}
		if update, ok := reflect.TypeAssert[*dynamodb.UpdateItemInput](input.Addr()); ok {
			a.Attributes = attributes(update.Key, update.ExpressionAttributeNames, update.UpdateExpression,
				update.ConditionExpression)
			a.Returns = string(update.ReturnValues)
		}
		return []tableAccess{a}
	}
	var all []tableAccess
	for i := range items.Len() {
		for kind, action := range items.Index(i).Fields() { // Put, Update, Delete, ConditionCheck or Get
			if action.Kind() != reflect.Pointer || action.IsNil() {
				continue
			}
			a := tableAccess{Action: "dynamodb:" + kind.Name + "Item", Table: text(action.Elem(), "TableName")}
			switch action := action.Interface().(type) {
			case *types.Put:
				a.Leading = dynamo.Item(action.Item).String("id")
			case *types.Delete:
				a.Leading = dynamo.Item(action.Key).String("id")
			}
			if update, ok := reflect.TypeAssert[*types.Update](action); ok {
				a.Attributes = attributes(update.Key, update.ExpressionAttributeNames, update.UpdateExpression,
					update.ConditionExpression)
			}
			all = append(all, a)
		}
	}
	return all
}

// operand matches a value, a function or a keyword of an expression, or else captures the first element of a document
// path.
var operand = regexp.MustCompile(`:\w+|\w+ ?\(|\b(?:SET|REMOVE|ADD|DELETE|AND|OR|NOT|IN|BETWEEN)\b|([#\w]+)(?:\.[#\w]+|\[\d+\])*`)

// attributes returns the top-level attributes of an item that a key and expressions name.
func attributes(key map[string]types.AttributeValue, names map[string]string, expressions ...*string) []string {
	all := slices.Collect(maps.Keys(key))
	for _, expression := range expressions {
		for _, match := range operand.FindAllStringSubmatch(aws.ToString(expression), -1) {
			if name, ok := names[match[1]]; ok {
				all = append(all, name)
			} else if match[1] != "" {
				all = append(all, match[1])
			}
		}
	}
	return all
}

// addUnits adds the consumed units to the first access to their table.
func addUnits(call *call, output reflect.Value) {
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
		i := slices.IndexFunc(call.Accesses, func(a tableAccess) bool { return a.Table == aws.ToString(c.TableName) })
		switch {
		case i < 0:
		case strings.Contains(call.API, "Get"), call.API == "Query", call.API == "Scan":
			call.Accesses[i].ReadUnits += aws.ToFloat64(c.CapacityUnits)
		default:
			call.Accesses[i].WriteUnits += aws.ToFloat64(c.CapacityUnits)
		}
	}
}
