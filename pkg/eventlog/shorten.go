package eventlog

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"toggleadmin/pkg/platform/lambdahttp"
)

// MaxSize is the maximum size of the data of an event, before and after together, in bytes of JSON. An event has at
// most 16 KB with its other members.
const MaxSize = 14_000

// longMember is the size of a member from which it is shortened if the data are too large.
const longMember = 500

// fit encodes the data of an event. If they are too large, long members that do not change become their length, then
// long lists become what was added, removed and changed, as far as it fits, then other long members become their length
// and a part of their SHA-256.
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
	a, err := Properties(after)
	if err != nil {
		return nil, nil, err
	}
	b, err := Properties(before)
	if err != nil {
		return nil, nil, err
	}
	for _, shorten := range []func(a, b map[string]any, name string){shortenUnchanged, shortenLists, shortenOther} {
		for _, name := range slices.Sorted(maps.Keys(union(a, b))) {
			if size(a)+size(b) > MaxSize && max(size(a[name]), size(b[name])) > longMember {
				shorten(a, b, name)
			}
		}
	}
	if after, err = encode(object(a)); err != nil {
		return nil, nil, err
	}
	before, err = encode(object(b))
	return after, before, err
}

// object returns a map as an argument of encode, which must not be a typed nil.
func object(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

func encode(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return lambdahttp.EncodeJSON(v)
}

// union returns a map with the names of two maps.
func union(a, b map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// shortenUnchanged replaces a member that is the same before and after by its length.
func shortenUnchanged(after, before map[string]any, name string) {
	if v := after[name]; reflect.DeepEqual(v, before[name]) {
		after[name], before[name] = lengthOf(v), lengthOf(v)
	}
}

// shortenOther replaces a member that is not a list by its length and a part of its SHA-256, which shows a change.
func shortenOther(after, before map[string]any, name string) {
	for _, m := range []map[string]any{after, before} {
		if _, isList := m[name].([]any); !isList && size(m[name]) > longMember {
			text, _ := lambdahttp.EncodeJSON(m[name]) // was decoded from JSON
			short := lengthOf(m[name])
			short["sha256"] = fmt.Sprintf("%.8x", sha256.Sum256(text))
			m[name] = short
		}
	}
}

// shortenLists replaces a list by its changes if it is one before and after, otherwise by its first elements.
func shortenLists(after, before map[string]any, name string) {
	newList, isList := after[name].([]any)
	oldList, wasList := before[name].([]any)
	room := MaxSize - size(after) - size(before) + size(after[name]) + size(before[name]) - longMember
	switch {
	case isList && wasList:
		before[name], after[name] = differences(oldList, newList, room)
	case isList:
		after[name] = first(newList, room)
	case wasList:
		before[name] = first(oldList, room)
	}
}

// lengthOf returns what replaces a value: the number of its characters, elements or members.
func lengthOf(v any) map[string]any {
	n := 0
	switch v := v.(type) {
	case string:
		n = utf8.RuneCountInString(v)
	case []any:
		n = len(v)
	case map[string]any:
		n = len(v)
	}
	return map[string]any{"length": n}
}

func size(v any) int {
	text, _ := lambdahttp.EncodeJSON(v) // was decoded from JSON
	return len(text)
}

// first returns the length of a list, and its elements that fit into a number of bytes.
func first(list []any, room int) map[string]any {
	short := lengthOf(list)
	short["first"] = fitting(list, &room)
	return short
}

// fitting returns the elements of a list that fit into a number of bytes, and subtracts their size from it.
func fitting[T any](list []T, room *int) []T {
	kept := []T{}
	for _, v := range list {
		if n := size(v) + 1; n <= *room {
			*room -= n
			kept = append(kept, v)
		}
	}
	return kept
}

// differences describes how a list changed, in about as many bytes as there is room: changed elements before and after,
// and the others after the change. Elements are identified by their member "value", or else as a whole. If only their
// order changed, it says so.
func differences(before, after []any, room int) (was, is map[string]any) {
	old, added, removed := map[string]any{}, []any{}, []any{}
	var changed [][2]any // before and after
	for _, v := range before {
		old[identity(v)] = v
	}
	present := map[string]bool{}
	for _, v := range after {
		key := identity(v)
		present[key] = true
		switch previous, existed := old[key]; {
		case !existed:
			added = append(added, v)
		case !reflect.DeepEqual(previous, v):
			changed = append(changed, [2]any{previous, v})
		}
	}
	for _, v := range before {
		if !present[identity(v)] {
			removed = append(removed, v)
		}
	}
	was, is = lengthOf(before), lengthOf(after)
	is["removed"], is["added"] = fitting(removed, &room), fitting(added, &room)
	kept, changedFrom, changedTo := fitting(changed, &room), []any{}, []any{}
	for _, pair := range kept {
		changedFrom, changedTo = append(changedFrom, pair[0]), append(changedTo, pair[1])
	}
	was["changed"], is["changed"] = changedFrom, changedTo
	for name, n := range map[string]int{"removed": len(removed), "added": len(added), "changed": len(changed)} {
		if list, _ := is[name].([]any); len(list) < n {
			is[name+"Total"] = n
		}
	}
	if len(added) == 0 && len(changed) == 0 && len(removed) == 0 {
		is["reordered"] = true
	}
	return was, is
}

func identity(v any) string {
	if m, ok := v.(map[string]any); ok {
		if value, ok := m["value"].(string); ok {
			return value
		}
	}
	text, _ := lambdahttp.EncodeJSON(v) // was decoded from JSON
	return string(text)
}
