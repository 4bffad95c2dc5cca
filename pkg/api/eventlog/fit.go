package eventlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
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
	var a, b map[string]any
	if err := errors.Join(decode(after, &a), decode(before, &b)); err != nil {
		return nil, nil, err
	}
	for _, shorten := range []func(a, b map[string]any, name string){shortenUnchanged, shortenOther, shortenLists} {
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
	text, err := lambdahttp.EncodeJSON(v)
	if err == nil && !bytes.HasPrefix(text, []byte("{")) {
		err = fmt.Errorf("the data of an event are %T, not an object", v)
	}
	return text, err
}

func decode(text json.RawMessage, into *map[string]any) error {
	if text == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
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
	var short map[string]any
	room := MaxSize - size(after) - size(before) + size(after[name]) + size(before[name]) - longMember
	switch {
	case isList && wasList:
		short = differences(oldList, newList, room)
		after[name], before[name] = short, lengthOf(oldList)
	case isList:
		short = lengthOf(newList)
		short["first"] = head(newList, &room)
		after[name] = short
	case wasList:
		short = lengthOf(oldList)
		short["first"] = head(oldList, &room)
		before[name] = short
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

// head returns the first elements of a list that fit into a number of bytes, and subtracts their size from it.
func head(list []any, room *int) []any {
	kept := []any{}
	for _, v := range list {
		if n := size(v) + 1; n <= *room {
			*room -= n
			kept = append(kept, v)
		}
	}
	return kept
}

// differences describes how a list changed, in about as many bytes as there is room. Elements are identified by their
// member "value", or else as a whole. If only their order changed, it says so.
func differences(before, after []any, room int) map[string]any {
	old, added, changed, removed := map[string]any{}, []any{}, []any{}, []any{}
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
			changed = append(changed, v)
		}
	}
	for _, v := range before {
		if !present[identity(v)] {
			removed = append(removed, v)
		}
	}
	result := lengthOf(after)
	for _, part := range []struct {
		name string
		list []any
	}{{"removed", removed}, {"added", added}, {"changed", changed}} {
		kept := head(part.list, &room)
		result[part.name] = kept
		if len(kept) < len(part.list) {
			result[part.name+"Total"] = len(part.list)
		}
	}
	if len(added)+len(changed)+len(removed) == 0 {
		result["reordered"] = true
	}
	return result
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
