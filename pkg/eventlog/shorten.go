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
//  2. A list becomes what was added, removed and changed, as far as it fits.
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
	for _, name := range p.names() {
		if p.mustShorten(name) {
			p.shortenUnchanged(name)
		}
	}
	for _, name := range p.names() {
		if p.mustShorten(name) {
			p.shortenList(name)
		}
	}
	for _, name := range p.names() {
		if p.mustShorten(name) {
			hashLong(p.after, name)
			hashLong(p.before, name)
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
		p.after[name] = lengthOf(value)
		p.before[name] = lengthOf(value)
	}
}

// shortenList replaces a property that is a list before and after by its changes, and one that is a list before or
// after by its first elements.
func (p properties) shortenList(name string) {
	after, isList := p.after[name].([]any)
	before, wasList := p.before[name].([]any)
	others := size(p.after) + size(p.before) - size(p.after[name]) - size(p.before[name])
	room := MaxSize - others - longProperty
	switch {
	case isList && wasList:
		p.before[name], p.after[name] = compareLists(before, after).describe(room)
	case isList:
		p.after[name] = firstOf(after, room)
	case wasList:
		p.before[name] = firstOf(before, room)
	}
}

// hashLong replaces a long property that is not a list by its length and a part of its SHA-256.
func hashLong(object map[string]any, name string) {
	value := object[name]
	if _, isList := value.([]any); isList || size(value) <= longProperty {
		return
	}
	hash := sha256.Sum256(encodeDecoded(value))
	short := lengthOf(value)
	short["sha256"] = fmt.Sprintf("%x", hash[:8])
	object[name] = short
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

// firstOf returns what replaces a list: its length, and the elements that fit into a number of bytes.
func firstOf(list []any, room int) map[string]any {
	short := lengthOf(list)
	short["first"], _ = fitting(list, room)
	return short
}

// fitting returns the elements of a list that fit into a number of bytes, and the number of bytes that remain.
func fitting(list []any, room int) (kept []any, remaining int) {
	kept = []any{}
	for _, element := range list {
		n := size(element) + len(",")
		if n <= room {
			kept = append(kept, element)
			room -= n
		}
	}
	return kept, room
}

// listChange is how a list changed.
type listChange struct {
	before  []any
	after   []any
	removed []any
	added   []any
	changed []changedElement
}

type changedElement struct {
	before any
	after  any
}

// compareLists compares the elements of a list before and after a change. Their order does not matter.
func compareLists(before, after []any) listChange {
	change := listChange{before: before, after: after}
	old := map[string]any{}
	for _, element := range before {
		old[identity(element)] = element
	}
	remains := map[string]bool{}
	for _, element := range after {
		id := identity(element)
		remains[id] = true
		previous, existed := old[id]
		if !existed {
			change.added = append(change.added, element)
		} else if !reflect.DeepEqual(previous, element) {
			change.changed = append(change.changed, changedElement{previous, element})
		}
	}
	for _, element := range before {
		if !remains[identity(element)] {
			change.removed = append(change.removed, element)
		}
	}
	return change
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

// describe returns what replaces the list before and after the change, in about as many bytes as there is room. Changed
// elements are in both, the others in that after the change. The number of elements is added if some do not fit. If
// only the order of the elements changed, "reordered" is true.
func (c listChange) describe(room int) (before, after map[string]any) {
	removed, room := fitting(c.removed, room)
	added, room := fitting(c.added, room)
	changedBefore, changedAfter := []any{}, []any{}
	for _, element := range c.changed {
		n := size([]any{element.before, element.after}) + len(",")
		if n <= room {
			changedBefore = append(changedBefore, element.before)
			changedAfter = append(changedAfter, element.after)
			room -= n
		}
	}

	before = lengthOf(c.before)
	before["changed"] = changedBefore

	after = lengthOf(c.after)
	after["removed"] = removed
	after["added"] = added
	after["changed"] = changedAfter
	if len(removed) < len(c.removed) {
		after["removedTotal"] = len(c.removed)
	}
	if len(added) < len(c.added) {
		after["addedTotal"] = len(c.added)
	}
	if len(changedAfter) < len(c.changed) {
		after["changedTotal"] = len(c.changed)
	}
	if len(c.removed)+len(c.added)+len(c.changed) == 0 {
		after["reordered"] = true
	}
	return before, after
}

// size returns the size of a value that was decoded from JSON, in bytes of JSON.
func size(value any) int { return len(encodeDecoded(value)) }

// encodeDecoded encodes a value that was decoded from JSON, which cannot fail.
func encodeDecoded(value any) []byte {
	text, _ := jsonbody.Encode(value)
	return text
}
