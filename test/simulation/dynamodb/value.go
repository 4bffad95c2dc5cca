package dynamodb

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/platform/dynamo"
)

// Values and items never change, so items share values. A nil value or item does not exist.
type (
	value = types.AttributeValue
	item  = dynamo.Item
)

// format is DynamoDB's JSON.
var format = jsonv2.JoinOptions(jsonv2.RejectUnknownMembers(true),
	jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(readValue)), jsonv2.WithMarshalers(jsonv2.MarshalToFunc(writeValue)))

// encoded is a value in DynamoDB's JSON, such as {"S": "text"}.
type encoded struct {
	S, N *string
	B    *[]byte
	BOOL *bool
	L    *[]value
	M    *map[string]value
	SS   *[]string
	NS   *[]string
}

func readValue(d *jsontext.Decoder, v *value) error {
	var e encoded
	err := jsonv2.UnmarshalDecode(d, &e)
	switch {
	case e.S != nil:
		*v = dynamo.S(*e.S)
	case e.N != nil:
		*v = dynamo.N(integer(*e.N))
	case e.B != nil:
		*v = dynamo.B(*e.B)
	case e.BOOL != nil:
		*v = dynamo.Bool(*e.BOOL)
	case e.L != nil:
		*v = &types.AttributeValueMemberL{Value: *e.L}
	case e.M != nil:
		*v = dynamo.M(*e.M)
	case e.SS != nil:
		*v = &types.AttributeValueMemberSS{Value: *e.SS}
	case e.NS != nil:
		*v = &types.AttributeValueMemberNS{Value: *e.NS}
	default:
		require(err != nil, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	return err
}

func writeValue(e *jsontext.Encoder, v value) error {
	kind, content := "", any(nil)
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		kind, content = "S", v.Value
	case *types.AttributeValueMemberN:
		kind, content = "N", v.Value
	case *types.AttributeValueMemberB:
		kind, content = "B", v.Value
	case *types.AttributeValueMemberBOOL:
		kind, content = "BOOL", v.Value
	case *types.AttributeValueMemberL:
		kind, content = "L", v.Value
	case *types.AttributeValueMemberM:
		kind, content = "M", v.Value
	case *types.AttributeValueMemberSS:
		kind, content = "SS", v.Value
	case *types.AttributeValueMemberNS:
		kind, content = "NS", v.Value
	}
	return errors.Join(e.WriteToken(jsontext.BeginObject), e.WriteToken(jsontext.String(kind)),
		jsonv2.MarshalEncode(e, content), e.WriteToken(jsontext.EndObject))
}

// set returns a copy with a value at a path; nil removes the one there.
func set(i item, path []string, v value) item {
	name, next := path[0], maps.Clone(i)
	if len(path) > 1 {
		inner := i.Map(name)
		require(inner != nil, "The document path provided in the update expression is invalid for update")
		v = dynamo.M(set(inner, path[1:], v))
	}
	if next[name] = v; v == nil {
		delete(next, name)
	}
	return next
}

// size returns the bytes of a value that count towards limits, except that DynamoDB stores numbers in fewer bytes.
func size(v value) (n int) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		n = len(v.Value)
	case *types.AttributeValueMemberN:
		n = len(v.Value)
	case *types.AttributeValueMemberB:
		n = len(v.Value)
	case *types.AttributeValueMemberSS:
		for _, element := range v.Value {
			n += len(element)
		}
	case *types.AttributeValueMemberNS:
		for _, element := range v.Value {
			n += len(element)
		}
	case *types.AttributeValueMemberL:
		for _, element := range v.Value {
			n += size(element)
		}
	case *types.AttributeValueMemberM:
		for name, inner := range v.Value {
			n += len(name) + size(inner)
		}
	}
	return n
}

// integer parses a number. The service has integers only.
func integer(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	require(err == nil, "The parameter cannot be converted to a numeric value: "+text)
	return n
}

// order returns a text whose order is that of strings or numbers; empty: the value has no order. None is the beginning
// of another one.
func order(v value) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S" + v.Value + "\x00"
	case *types.AttributeValueMemberN:
		return fmt.Sprintf("N%020d", uint64(integer(v.Value))^1<<63) // negative numbers are below
	}
	return ""
}
