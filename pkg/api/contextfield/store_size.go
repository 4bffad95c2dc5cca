package contextfield

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
)

// maxBytes is the highest limit of the size of all fields in the response of list context fields. Lambda's limit of a
// response is 6 MB.
const maxBytes = 5_000_000

// limitVariable is the environment variable with the limit of the size of all fields, in units of 1,000 bytes.
const limitVariable = "MAX_CONTEXT_FIELD_KILOBYTES"

// total is the key of the item with the sum of all sizes. A field cannot have this name.
const total = "#total"

const (
	attributeSize  = "size"
	attributeUsage = "usage"
)

// newLimitedStore returns a Store for the table and with the limit of an environment.
func newLimitedStore(env *app.Env) (*Store, error) {
	limit, err := env.Number(limitVariable, 1, maxBytes/1000)
	if err != nil {
		return nil, err
	}
	client, tables, log, err := eventlog.Open(env, "CONTEXT_FIELDS_TABLE")
	if err != nil {
		return nil, err
	}
	return NewStore(client, tables, log).Limited(limit * 1000), nil
}

// Limited returns a Store that keeps the size of all fields, in the response of list context fields, within a number of
// bytes.
func (s *Store) Limited(bytes int64) *Store {
	limited := *s
	limited.limit = bytes
	return &limited
}

// tooLarge is the error for the client.
func (s *Store) tooLarge() error {
	return apierror.New(apierror.NoAccess,
		fmt.Sprintf("The list of all context fields may have at most %d bytes. Delete fields or legal values first.",
			s.limit))
}

// size returns the maximum number of bytes of a field in the response of list context fields, as Lambda counts them:
// the body is a JSON string.
func size(f ContextField) (int64, error) {
	const rest = 40 // the digits of two counts, the comma, and a margin
	f.Usage, f.CreatedAt = nil, new(time.Time)
	body, err := lambdahttp.EncodeJSON(response(f))
	if err != nil {
		return 0, fmt.Errorf("encode context field %q: %w", f.Name, err)
	}
	text, err := lambdahttp.EncodeJSON(string(body))
	return int64(len(text)) + rest, err
}

// addToTotal returns the action that adds to the sum of all sizes. It fails if bytes is positive and the sum would be
// above the limit.
func (s *Store) addToTotal(bytes int64) types.TransactWriteItem {
	update := &types.Update{
		TableName: &s.table, Key: key(total), UpdateExpression: aws.String("ADD #size :bytes"),
		ExpressionAttributeNames:  map[string]string{"#size": attributeSize},
		ExpressionAttributeValues: dynamo.Item{":bytes": dynamo.N(bytes)},
	}
	if bytes > 0 {
		update.ConditionExpression = aws.String("(attribute_not_exists(#size) AND :most >= :zero) OR #size <= :most")
		update.ExpressionAttributeValues[":most"], update.ExpressionAttributeValues[":zero"] = dynamo.N(s.limit-bytes),
			dynamo.N(0)
	}
	return types.TransactWriteItem{Update: update}
}
