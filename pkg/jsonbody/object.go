package jsonbody

import (
	"encoding/json"
	"time"

	"toggleadmin/pkg/datetime"
)

// Object is a body that fits its schema, its numbers spelt as they were sent. A member's getter gives the zero value where the schema
// lets the member be absent or null.
type Object map[string]any

// Has says whether the member was sent, as null too.
func (o Object) Has(name string) bool { _, ok := o[name]; return ok }

// Text gives a string member.
func (o Object) Text(name string) string { s, _ := o[name].(string); return s }

// Bool gives a boolean member.
func (o Object) Bool(name string) bool { b, _ := o[name].(bool); return b }

// Int gives an integer member. ok is false where it is absent, null or beyond 64 bits.
func (o Object) Int(name string) (n int64, ok bool) {
	number, isNumber := o[name].(json.Number)
	if !isNumber {
		return 0, false
	}
	n, err := integer(number)
	return n, err == nil
}

// Time gives a date-time member, cut to milliseconds; nil where it is absent or null.
func (o Object) Time(name string) *time.Time {
	text, ok := o[name].(string)
	if !ok {
		return nil
	}
	t, err := datetime.Parse(text)
	if err != nil { // the schema's format has refused it
		return nil
	}
	t = datetime.Milliseconds(t)
	return &t
}
