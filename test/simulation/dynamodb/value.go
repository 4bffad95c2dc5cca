package dynamodb

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/platform/dynamo"
)

// value is an attribute value. It never changes, so items share values.
type value struct {
	kind string // S, N, B, BOOL, L or M
	text string // of S; of N, an integer; the bytes of B; true or false
	list []value
	item item
}

// item has its attributes in the order of their names.
type item []attribute

type attribute struct {
	name  string
	value value
}

func (i item) search(name string) (int, bool) {
	return slices.BinarySearchFunc(i, name, func(a attribute, name string) int { return strings.Compare(a.name, name) })
}

func (i item) get(name string) (value, bool) {
	if at, ok := i.search(name); ok {
		return i[at].value, true
	}
	return value{}, false
}

// set returns a copy with a value at a path; nil removes the one there.
func (i item) set(path []string, v *value) item {
	at, found := i.search(path[0])
	switch {
	case len(path) > 1:
		if !found || i[at].value.kind != "M" {
			panic(invalid("The document path provided in the update expression is invalid for update"))
		}
		v = &value{kind: "M", item: i[at].value.item.set(path[1:], v)}
	case v == nil && found:
		return slices.Concat(i[:at], i[at+1:])
	case v == nil:
		return i
	}
	if found {
		return slices.Concat(i[:at], item{{path[0], *v}}, i[at+1:])
	}
	return slices.Concat(i[:at], item{{path[0], *v}}, i[at:])
}

// only returns the attributes with the names that exist.
func (i item) only(names ...string) (part item) {
	for _, a := range i {
		if slices.Contains(names, a.name) {
			part = append(part, a)
		}
	}
	return part
}

func (i item) equal(other item) bool {
	return slices.EqualFunc(i, other, func(a, b attribute) bool { return a.name == b.name && a.value.equal(b.value) })
}

func (v value) equal(other value) bool {
	return v.kind == other.kind && v.text == other.text && slices.EqualFunc(v.list, other.list, value.equal) &&
		v.item.equal(other.item)
}

// size is the number of bytes that count towards limits (DynamoDB Developer Guide, "DynamoDB item sizes and formats").
func (i item) size() (n int) {
	for _, a := range i {
		n += len(a.name) + a.value.size()
	}
	return n
}

func (v value) size() int {
	switch v.kind {
	case "S", "B":
		return len(v.text)
	case "N":
		n := (len(strings.Trim(v.text, "-0"))+1)/2 + 1
		if v.text[0] == '-' {
			n++
		}
		return n
	case "L":
		n := 3
		for _, element := range v.list {
			n += 1 + element.size()
		}
		return n
	case "M":
		return 3 + len(v.item) + v.item.size()
	default:
		return 1
	}
}

// UnmarshalJSONFrom reads attributes.
func (i *item) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*i = item{}
	return readObject(d, func(name string) error {
		var v value
		err := v.UnmarshalJSONFrom(d)
		at, _ := i.search(name)
		*i = slices.Insert(*i, at, attribute{name, v})
		return err
	})
}

func readObject(d *jsontext.Decoder, member func(name string) error) error {
	token, err := d.ReadToken()
	if err != nil || token.Kind() != '{' {
		return errors.Join(err, errors.New("no object"))
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}

// UnmarshalJSONFrom reads a value such as {"S": "text"}.
func (v *value) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	err := readObject(d, func(kind string) error {
		v.kind = kind
		switch kind {
		case "M":
			return v.item.UnmarshalJSONFrom(d)
		case "L":
			if _, err := d.ReadToken(); err != nil {
				return err
			}
			for d.PeekKind() != ']' {
				var element value
				if err := element.UnmarshalJSONFrom(d); err != nil {
					return err
				}
				v.list = append(v.list, element)
			}
			_, err := d.ReadToken()
			return err
		case "S", "N", "B", "BOOL":
		default:
			return errors.New("the type of an attribute value is not supported: " + kind)
		}
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		v.text = token.String()
		switch kind {
		case "N":
			v.text = strconv.FormatInt(number(v.text), 10)
		case "B":
			bytes, err := base64.StdEncoding.DecodeString(v.text)
			v.text = string(bytes)
			return err
		}
		return nil
	})
	if err == nil && v.kind == "" {
		panic(invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"))
	}
	return err
}

// append appends the attributes as JSON.
func (i item) append(b []byte) []byte {
	b = append(b, '{')
	for n, a := range i {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(quote(b, a.name), ':')
		b = a.value.append(b)
	}
	return append(b, '}')
}

func (v value) append(b []byte) []byte {
	b = append(append(append(b, `{"`...), v.kind...), `":`...)
	switch v.kind {
	case "M":
		b = v.item.append(b)
	case "L":
		b = append(b, '[')
		for n, element := range v.list {
			if n > 0 {
				b = append(b, ',')
			}
			b = element.append(b)
		}
		b = append(b, ']')
	case "B":
		b = append(base64.StdEncoding.AppendEncode(append(b, '"'), []byte(v.text)), '"')
	case "BOOL":
		b = append(b, v.text...)
	default:
		b = quote(b, v.text)
	}
	return append(b, '}')
}

func quote(b []byte, text string) []byte {
	b, err := jsontext.AppendQuote(b, text)
	if err != nil {
		panic(err) // not UTF-8, which no decoded text is
	}
	return b
}

// decoded converts attributes to the SDK's types.
func (i item) decoded() dynamo.Item {
	if i == nil {
		return nil
	}
	all := make(dynamo.Item, len(i))
	for _, a := range i {
		all[a.name] = a.value.decoded()
	}
	return all
}

func (v value) decoded() types.AttributeValue {
	switch v.kind {
	case "S":
		return dynamo.S(v.text)
	case "N":
		return &types.AttributeValueMemberN{Value: v.text}
	case "B":
		return dynamo.B([]byte(v.text))
	case "BOOL":
		return dynamo.Bool(v.text == "true")
	case "M":
		return dynamo.M(v.item.decoded())
	case "L":
		list := make([]types.AttributeValue, len(v.list))
		for n, element := range v.list {
			list[n] = element.decoded()
		}
		return &types.AttributeValueMemberL{Value: list}
	}
	panic("no attribute value has the type " + v.kind)
}

// number parses a number. The service has integers only.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(invalid("The parameter cannot be converted to a numeric value: " + text))
	}
	return n
}

func sum(a, b value) value {
	if a.kind != "N" || b.kind != "N" {
		panic(invalid("An operand in the update expression has an incorrect data type"))
	}
	return value{kind: "N", text: strconv.FormatInt(number(a.text)+number(b.text), 10)}
}

// key returns a text whose order is that of strings or numbers. None is the beginning of another one.
func (v value) key() string {
	if v.kind == "N" {
		return fmt.Sprintf("N%020d", uint64(number(v.text))^1<<63) // negative numbers are below
	}
	return v.kind + v.text + "\x00"
}
