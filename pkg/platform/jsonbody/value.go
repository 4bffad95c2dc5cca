package jsonbody

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// Object is a JSON object that is valid according to its schema. Its values are string, bool, nil, json.Number, []any
// or map[string]any. The methods return the zero value for a property that is absent or null.
type Object map[string]any

// Has reports whether the property was sent, even as null.
func (o Object) Has(name string) bool { _, ok := o[name]; return ok }

// Text returns a string property.
func (o Object) Text(name string) string { s, _ := o[name].(string); return s }

// TextOK returns a string property. ok is false if it is absent or null.
func (o Object) TextOK(name string) (s string, ok bool) { s, ok = o[name].(string); return s, ok }

// Objects returns the elements of an array property.
func (o Object) Objects(name string) []Object { return objects(o[name]) }

// objects returns the elements of an array.
func objects(value any) []Object {
	list, _ := value.([]any)
	objects := make([]Object, len(list))
	for i, element := range list {
		objects[i], _ = element.(map[string]any)
	}
	return objects
}

// Texts returns the elements of an array property that are strings.
func (o Object) Texts(name string) []string {
	list, _ := o[name].([]any)
	var texts []string
	for _, element := range list {
		if text, ok := element.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// Ints returns the elements of an array of integers, or nil if there is none with the name.
func (o Object) Ints(name string) []int64 {
	array, _ := o[name].([]any)
	var all []int64
	for _, element := range array {
		if n, ok := integer(element); ok {
			all = append(all, n)
		}
	}
	return all
}

// Bool returns a boolean property.
func (o Object) Bool(name string) bool { b, _ := o[name].(bool); return b }

// Int returns an integer property. A value beyond 64 bits is returned as the nearest int64. ok is false if it is absent
// or null.
func (o Object) Int(name string) (n int64, ok bool) { return integer(o[name]) }

// Time returns a date-time property, truncated to milliseconds, or nil.
func (o Object) Time(name string) *time.Time {
	text, ok := o[name].(string)
	if !ok {
		return nil
	}
	t, err := datetime.Parse(text)
	if err != nil { // the schema does not declare it as a date-time
		return nil
	}
	t = datetime.Milliseconds(t)
	return &t
}

// integer returns the value of an integer property.
func integer(value any) (n int64, ok bool) {
	number, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	return Integer(number)
}

// Integer returns the value of a JSON number whose exact value is an integer, in any notation. A value beyond 64 bits
// is returned as the nearest int64. The time and memory that it takes do not depend on the exponent.
func Integer(number json.Number) (n int64, ok bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(number)), "e")
	whole, decimals, _ := strings.Cut(mantissa, ".")
	significant := strings.TrimRight(whole+decimals, "0")
	if significant == "" || significant == "-" {
		return 0, true
	}
	// The number is significant × 10^zeros. ParseInt returns the nearest value if the text is out of range, and 0 if it is
	// empty.
	zeros, _ := strconv.ParseInt(exponent, 10, 32)
	zeros += int64(len(whole) - len(significant))
	if zeros < 0 {
		return 0, false
	}
	const enough = 19 // 10^19 exceeds 64 bits
	n, _ = strconv.ParseInt(significant+strings.Repeat("0", int(min(zeros, enough))), 10, 64)
	return n, true
}

// echo returns the JSON text of a value for a message. A string is truncated before it is quoted.
func echo(value any) string {
	text, isString := value.(string)
	if isString {
		value = apierror.Echo(text)
	}
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil { // parse returned it
		panic(err)
	}
	line := strings.TrimSuffix(encoded.String(), "\n")
	if isString {
		return line
	}
	return apierror.Echo(line)
}
