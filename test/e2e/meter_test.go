package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	// the partition key that a write names, if its name is id, or kind in the table Access, or if there is no sort key
	Leading    string
	Attributes []string // top-level attributes that an update names, of the key and in expressions, or a batch of reads
	Returns    string   // ReturnValues of an update; empty: NONE
}

// options is a local.Config's APIOptions.
func (m *meter) options(function string) []func(*middleware.Stack) error {
	return []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Meter", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			if field := reflect.ValueOf(in.Parameters).Elem().FieldByName("ReturnConsumedCapacity"); field.IsValid() {
				field.Set(reflect.ValueOf(types.ReturnConsumedCapacityTotal))
			}
			out, metadata, err := next.HandleInitialize(ctx, in)
			c := call{Function: function, API: middleware.GetOperationName(ctx), Err: err}
			if awsmiddleware.GetServiceID(ctx) == dynamodb.ServiceID {
				c.Accesses = accesses(c.API, in.Parameters)
			}
			if attempts, ok := retry.GetAttemptResults(metadata); ok {
				c.Attempts = len(attempts.Results)
			}
			if err == nil {
				addUnits(&c, out.Result)
			}
			m.record(c)
			return out, metadata, err
		}), middleware.After)
	}}
}

// action is what accesses reads of a call's input, or of an action of a transaction.
type action struct {
	TableName, IndexName, UpdateExpression, ConditionExpression, ReturnValues string
	Key, Item                                                                 map[string]struct{ Value any }
	ExpressionAttributeNames                                                  map[string]string
}

// accesses reads a call's tables from its input.
func accesses(api string, input any) (all []tableAccess) {
	var call struct {
		action
		RequestItems map[string]struct {
			ProjectionExpression     string
			ExpressionAttributeNames map[string]string
		}
		TransactItems []map[string]*action // Put, Update, Delete, ConditionCheck or Get; the others are nil
	}
	convert(input, &call)
	for _, name := range slices.Sorted(maps.Keys(call.RequestItems)) {
		keys := call.RequestItems[name]
		all = append(all, tableAccess{Action: "dynamodb:" + api, Table: name,
			Attributes: attributes(keys.ProjectionExpression, keys.ExpressionAttributeNames)})
	}
	actions := call.TransactItems
	if all == nil && actions == nil {
		actions = []map[string]*action{{strings.TrimSuffix(api, "Item"): &call.action}}
	}
	for _, kinds := range actions {
		for kind, a := range kinds {
			if a == nil {
				continue
			}
			one := tableAccess{Action: "dynamodb:" + kind + "Item", Table: a.TableName, Index: a.IndexName, Returns: a.ReturnValues}
			switch kind {
			case "Query", "Scan", "DescribeTable":
				one.Action = "dynamodb:" + kind
			case "Put":
				one.Leading = leading(a.TableName, a.Item)
			case "Delete":
				one.Leading = leading(a.TableName, a.Key)
			case "Update":
				one.Leading = leading(a.TableName, a.Key)
				one.Attributes = append(slices.Collect(maps.Keys(a.Key)),
					attributes(a.UpdateExpression+" "+a.ConditionExpression, a.ExpressionAttributeNames)...)
			}
			all = append(all, one)
		}
	}
	return all
}

// leading returns the partition key of an item or of a key, whose name is id, or kind in the table Access, or that of a key
// without a sort key.
func leading(table string, item map[string]struct{ Value any }) string {
	if len(item) == 1 {
		for _, only := range item {
			return fmt.Sprint(only.Value)
		}
	}
	if table == "Access" {
		return fmt.Sprint(item["kind"].Value)
	}
	return fmt.Sprint(item["id"].Value)
}

// convert copies the fields of one of the SDK's types to the fields of another one that have the same names.
func convert(from, to any) {
	text, err := json.Marshal(from)
	if err = errors.Join(err, json.Unmarshal(text, to)); err != nil {
		panic(err)
	}
}

// operand matches a value, a function or a keyword of an expression, or else captures the first element of a document
// path.
var operand = regexp.MustCompile(`:\w+|\w+ ?\(|\b(?:SET|REMOVE|ADD|DELETE|AND|OR|NOT|IN|BETWEEN)\b|([#\w]+)(?:\.[#\w]+|\[\d+\])*`)

// attributes returns the top-level attributes of an item that an expression names.
func attributes(expression string, names map[string]string) (all []string) {
	for _, match := range operand.FindAllStringSubmatch(expression, -1) {
		if match[1] != "" {
			all = append(all, cmp.Or(names[match[1]], match[1]))
		}
	}
	return all
}

// addUnits adds the consumed units to the first access to their table.
func addUnits(call *call, output any) {
	var consumed struct{ ConsumedCapacity capacities }
	convert(output, &consumed)
	for _, c := range consumed.ConsumedCapacity {
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

// capacities is a list of several tables, or what one table has consumed.
type capacities []types.ConsumedCapacity

// UnmarshalJSON implements json.Unmarshaler.
func (c *capacities) UnmarshalJSON(text []byte) error {
	*c = make(capacities, 1)
	if text[0] != '[' {
		return json.Unmarshal(text, &(*c)[0])
	}
	return json.Unmarshal(text, (*[]types.ConsumedCapacity)(c))
}
