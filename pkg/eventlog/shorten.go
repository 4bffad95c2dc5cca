package eventlog

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"toggleadmin/pkg/platform/jsonbody"
)

// MaxSize is the maximum size of the data of an event, before and after together, in bytes of JSON. An event has at
// most 16 KB with its other properties.
const MaxSize = 14_000

// longProperty is the size, in bytes of JSON, from which a property is shortened if the data are too large.
const longProperty = 500

// fit encodes the data of an event. If they are larger than MaxSize, it shortens long properties until they fit, in
// these steps:
//
//  1. A property that does not change becomes its length.
//  2. A list becomes its length, and what was added, removed and changed, as far as it fits.
//  3. Another property becomes its length and a part of its SHA-256, which shows a change.
func fit(data, preData any) (after, before json.RawMessage, err error) {
	if after, err = encode(data); err != nil {
		return nil, nil, err
	}
	if before, err = encode(preData); err != nil {
		return nil, nil, err
	}
	if len(after)+len(before) <= MaxSize {
		return after, before, nil
	}
	var p properties
	if p.after, err = Properties(after); err != nil {
		return nil, nil, err
	}
	if p.before, err = Properties(before); err != nil {
		return nil, nil, err
	}
	p.shorten()
	if after, err = encodeObject(p.after); err != nil {
		return nil, nil, err
	}
	before, err = encodeObject(p.before)
	return after, before, err
}

func encode(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return jsonbody.Encode(v)
}

func encodeObject(object map[string]any) (json.RawMessage, error) {
	if object == nil {
		return nil, nil
	}
	return jsonbody.Encode(object)
}

// properties are the data of an event, decoded from JSON. nil: the event has none.
type properties struct {
	after  map[string]any
	before map[string]any
}

func (p properties) shorten() {
	for _, step := range []func(string){p.shortenUnchanged, p.shortenList, p.hashLong} {
		for _, name := range p.names() {
			if p.mustShorten(name) {
				step(name)
			}
		}
	}
}

// names returns the names of all properties, sorted.
func (p properties) names() []string {
	all := map[string]bool{}
	for name := range p.after {
		all[name] = true
	}
	for name := range p.before {
		all[name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// mustShorten reports whether the data are too large and the property is long.
func (p properties) mustShorten(name string) bool {
	isLong := size(p.after[name]) > longProperty || size(p.before[name]) > longProperty
	return isLong && size(p.after)+size(p.before) > MaxSize
}

// shortenUnchanged replaces a property that is the same before and after by its length.
func (p properties) shortenUnchanged(name string) {
	value := p.after[name]
	if reflect.DeepEqual(value, p.before[name]) {
		p.replace(name, lengthOf(value), lengthOf(value))
	}
}

// shortenList replaces a property that is a list by its changes. A list that is only before or after is compared with
// an empty one.
func (p properties) shortenList(name string) {
	after, isList := p.after[name].([]any)
	before, wasList := p.before[name].([]any)
	if !isList && !wasList {
		return
	}
	others := size(p.after) + size(p.before) - size(p.after[name]) - size(p.before[name])
	was, is := compareLists(before, after, MaxSize-others-longProperty)
	p.replace(name, was, is)
}

// hashLong replaces a long property by its length and a part of its SHA-256.
func (p properties) hashLong(name string) {
	hashed := func(value any) any {
		if size(value) <= longProperty {
			return value
		}
		hash := sha256.Sum256(encodeDecoded(value))
		short := lengthOf(value)
		short["sha256"] = fmt.Sprintf("%x", hash[:8])
		return short
	}
	p.replace(name, hashed(p.before[name]), hashed(p.after[name]))
}

// replace replaces a property where the event has it.
func (p properties) replace(name string, before, after any) {
	if _, ok := p.before[name]; ok {
		p.before[name] = before
	}
	if _, ok := p.after[name]; ok {
		p.after[name] = after
	}
}

// lengthOf returns what replaces a value: the number of its characters, elements or properties.
func lengthOf(value any) map[string]any {
	length := 0
	switch value := value.(type) {
	case string:
		length = utf8.RuneCountInString(value)
	case []any:
		length = len(value)
	case map[string]any:
		length = len(value)
	}
	return map[string]any{"length": length}
}

// compareLists returns what replaces a list before and after a change: its length, and the elements that were removed
// or added, and those that changed, as far as they fit into a number of bytes. The order does not matter.
func compareLists(before, after []any, room int) (was, is map[string]any) {
	fits := func(elements ...any) bool {
		n := size(elements)
		if n > room {
			return false
		}
		room -= n
		return true
	}
	old, remains := map[string]any{}, map[string]bool{}
	for _, element := range before {
		old[identity(element)] = element
	}
	removed, added, changedFrom, changedTo := []any{}, []any{}, []any{}, []any{}
	for _, element := range after {
		id := identity(element)
		remains[id] = true
		previous, existed := old[id]
		switch {
		case !existed:
			if fits(element) {
				added = append(added, element)
			}
		case !reflect.DeepEqual(previous, element) && fits(previous, element):
			changedFrom, changedTo = append(changedFrom, previous), append(changedTo, element)
		}
	}
	for _, element := range before {
		if !remains[identity(element)] && fits(element) {
			removed = append(removed, element)
		}
	}
	was, is = lengthOf(before), lengthOf(after)
	was["removed"], was["changed"] = removed, changedFrom
	is["added"], is["changed"] = added, changedTo
	return was, is
}

// identity returns what identifies an element of a list: its property "value", or else the whole element.
func identity(element any) string {
	if object, ok := element.(map[string]any); ok {
		if value, ok := object["value"].(string); ok {
			return value
		}
	}
	return string(encodeDecoded(element))
}

// size returns the size of a value that was decoded from JSON, in bytes of JSON.
func size(value any) int { return len(encodeDecoded(value)) }

// encodeDecoded encodes a value that was decoded from JSON, which cannot fail.
func encodeDecoded(value any) []byte {
	text, _ := jsonbody.Encode(value)
	return text
}
