package dynamodb

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

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

// readValue reads a value such as {"S": "text"}.
func readValue(d *jsontext.Decoder, v *value) error {
	_, err := d.ReadToken()
	kind, _ := d.ReadToken()
	var content any
	switch kind.String() {
	case "S":
		text, err := d.ReadToken()
		*v = dynamo.S(text.String())
		return errors.Join(err, closed(d))
	case "N":
		text, err := d.ReadToken()
		*v = dynamo.N(integer(text.String()))
		return errors.Join(err, closed(d))
	case "B":
		read := &types.AttributeValueMemberB{}
		*v, content = read, &read.Value
	case "BOOL":
		read := &types.AttributeValueMemberBOOL{}
		*v, content = read, &read.Value
	case "L":
		read := &types.AttributeValueMemberL{}
		*v, content = read, &read.Value
	case "M":
		read := &types.AttributeValueMemberM{}
		*v, content = read, &read.Value
	default:
		panic(invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"))
	}
	return errors.Join(err, jsonv2.UnmarshalDecode(d, content), closed(d))
}

// closed reads the end of a value.
func closed(d *jsontext.Decoder) error {
	_, err := d.ReadToken()
	return err
}

func writeValue(e *jsontext.Encoder, v value) error {
	kind, content := parts(v)
	err := errors.Join(e.WriteToken(jsontext.BeginObject), e.WriteToken(jsontext.String(kind)))
	if text, ok := content.(string); ok {
		return errors.Join(err, e.WriteToken(jsontext.String(text)), e.WriteToken(jsontext.EndObject))
	}
	return errors.Join(err, jsonv2.MarshalEncode(e, content), e.WriteToken(jsontext.EndObject))
}

func parts(v value) (kind string, content any) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S", v.Value
	case *types.AttributeValueMemberN:
		return "N", v.Value
	case *types.AttributeValueMemberB:
		return "B", v.Value
	case *types.AttributeValueMemberBOOL:
		return "BOOL", v.Value
	case *types.AttributeValueMemberL:
		return "L", v.Value
	case *types.AttributeValueMemberM:
		return "M", item(v.Value)
	}
	panic(fmt.Sprintf("%T is not supported", v))
}

// set returns a copy with a value at a path; nil removes the one there.
func set(i item, path []string, v value) item {
	if name := path[0]; len(path) > 1 {
		inner, ok := i[name].(*types.AttributeValueMemberM)
		if !ok {
			panic(invalid("The document path provided in the update expression is invalid for update"))
		}
		return set(i, path[:1], dynamo.M(set(inner.Value, path[1:], v)))
	}
	next := maps.Clone(i)
	if next[path[0]] = v; v == nil {
		delete(next, path[0])
	}
	return next
}

// only returns the attributes with the names that exist.
func only(i item, names ...string) item {
	part := item{}
	for _, name := range names {
		if i[name] != nil {
			part[name] = i[name]
		}
	}
	return part
}

// size is the number of bytes that count towards limits (DynamoDB Developer Guide, "DynamoDB item sizes and formats").
func size(i item) (n int) {
	for name, v := range i {
		n += len(name) + sizeOf(v)
	}
	return n
}

func sizeOf(v value) int {
	switch _, content := parts(v); content := content.(type) {
	case string:
		n := len(content)
		if _, number := v.(*types.AttributeValueMemberN); number {
			n = (len(strings.Trim(content, "-0"))+1)/2 + 1 + strings.Count(content, "-")
		}
		return n
	case []byte:
		return len(content)
	case []value:
		n := 3
		for _, element := range content {
			n += 1 + sizeOf(element)
		}
		return n
	case item:
		return 3 + len(content) + size(content)
	default:
		return 1
	}
}

// integer parses a number. The service has integers only.
func integer(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(invalid("The parameter cannot be converted to a numeric value: " + text))
	}
	return n
}

func sum(a, b value) value {
	x, ok := a.(*types.AttributeValueMemberN)
	y, also := b.(*types.AttributeValueMemberN)
	if !ok || !also {
		panic(invalid("An operand in the update expression has an incorrect data type"))
	}
	return dynamo.N(integer(x.Value) + integer(y.Value))
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
