package dynamo

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/datetime"
)

// Marshal returns the item of a record, a struct whose fields have the tag dynamodbav. Times are RFC 3339 in UTC with
// milliseconds. It panics if a field has a type that cannot be stored, which is a defect of the program.
func Marshal(record any) Item {
	item, err := attributevalue.MarshalMapWithOptions(record, func(o *attributevalue.EncoderOptions) {
		o.EncodeTime = func(t time.Time) (types.AttributeValue, error) { return Time(t), nil }
	})
	if err != nil {
		panic(fmt.Sprintf("marshal %T: %v", record, err))
	}
	return item
}

// Unmarshal reads an item into a record. Attributes without a field are ignored. An error means that the item was not
// written by the service.
func Unmarshal(item Item, record any) error {
	err := attributevalue.UnmarshalMapWithOptions(item, record, func(o *attributevalue.DecoderOptions) {
		o.DecodeTime.S = datetime.Parse
	})
	if err != nil {
		return fmt.Errorf("unmarshal %T: %w", record, err)
	}
	return nil
}

// Build returns the texts, names and values of the expressions of a call. It panics if an expression is incomplete or a
// value has a type that cannot be stored, which is a defect of the program.
func Build(builder expression.Builder) expression.Expression {
	expr, err := builder.Build()
	if err != nil {
		panic(fmt.Sprintf("build an expression: %v", err))
	}
	return expr
}
