package dynamo

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/datetime"
)

// Item is an item, or the key of one.
type Item map[string]types.AttributeValue

// S returns a string attribute.
func S(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

// N returns a number attribute.
func N(v int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
}

// B returns a binary attribute.
func B(v []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: v} }

// Bool returns a boolean attribute.
func Bool(v bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: v} }

// M returns a map attribute.
func M(v Item) types.AttributeValue { return &types.AttributeValueMemberM{Value: v} }

// Time returns a time as a string attribute, RFC 3339 in UTC with milliseconds.
func Time(v time.Time) types.AttributeValue { return S(datetime.Format(v)) }

// Strings returns a list of strings.
func Strings(v []string) types.AttributeValue {
	list := make([]types.AttributeValue, len(v))
	for i, s := range v {
		list[i] = S(s)
	}
	return &types.AttributeValueMemberL{Value: list}
}

// Maps returns a list of maps.
func Maps(v []Item) types.AttributeValue {
	list := make([]types.AttributeValue, len(v))
	for i, item := range v {
		list[i] = M(item)
	}
	return &types.AttributeValueMemberL{Value: list}
}

// The methods below return the zero value if an attribute is absent or has another type. Null values are not stored,
// and only the stores write to the tables.

// String reads a string.
func (i Item) String(name string) string {
	if v, ok := i[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

// Int reads a whole number.
func (i Item) Int(name string) int64 {
	v, ok := i[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Bytes reads a binary value.
func (i Item) Bytes(name string) []byte {
	if v, ok := i[name].(*types.AttributeValueMemberB); ok {
		return v.Value
	}
	return nil
}

// Bool reads a boolean.
func (i Item) Bool(name string) bool {
	v, ok := i[name].(*types.AttributeValueMemberBOOL)
	return ok && v.Value
}

// Map reads a map.
func (i Item) Map(name string) Item {
	if v, ok := i[name].(*types.AttributeValueMemberM); ok {
		return v.Value
	}
	return nil
}

// Strings reads a list of strings.
func (i Item) Strings(name string) []string {
	v, ok := i[name].(*types.AttributeValueMemberL)
	if !ok {
		return nil
	}
	var list []string
	for _, element := range v.Value {
		if s, ok := element.(*types.AttributeValueMemberS); ok {
			list = append(list, s.Value)
		}
	}
	return list
}

// Maps reads a list of maps.
func (i Item) Maps(name string) []Item {
	v, ok := i[name].(*types.AttributeValueMemberL)
	if !ok {
		return nil
	}
	var list []Item
	for _, element := range v.Value {
		if m, ok := element.(*types.AttributeValueMemberM); ok {
			list = append(list, m.Value)
		}
	}
	return list
}

// Time reads a time. It returns nil if the attribute is absent.
func (i Item) Time(name string) *time.Time {
	text := i.String(name)
	if text == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339, text) // datetime.Parse takes four times as long, and reads other forms
	if err != nil {
		return nil
	}
	return &t
}
