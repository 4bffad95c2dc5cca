package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// MaxSize is the maximum size of the data of an event, before and after together, in bytes of JSON. An event has at most
// 16 KB with its other members.
const MaxSize = 14_000

const (
	// longMember is the size of a member from which it is shortened if the data are too large.
	longMember = 500
	// maxChanges limits what is kept of a long list: added, removed and changed elements together, in bytes of JSON.
	maxChanges = 4_000
)

// fit encodes the data of an event. If they are too large, a long list becomes what was added, removed and changed, as far
// as it fits, and another long member becomes its length.
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
	if err := decode(after, &a); err != nil {
		return nil, nil, err
	}
	if err := decode(before, &b); err != nil {
		return nil, nil, err
	}
	for name := range union(a, b) {
		shorten(a, b, name)
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
	text, err := json.Marshal(v)
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

func union(a, b map[string]any) map[string]bool {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}

// shorten replaces a long member of the data after and before.
func shorten(after, before map[string]any, name string) {
	newList, isList := after[name].([]any)
	oldList, wasList := before[name].([]any)
	if (isList || wasList) && (size(after[name]) > longMember || size(before[name]) > longMember) {
		if isList && wasList {
			after[name] = differences(oldList, newList)
			before[name] = map[string]any{"length": len(oldList)}
			return
		}
	}
	for _, m := range []map[string]any{after, before} {
		switch v := m[name].(type) {
		case string:
			if len(v) > longMember {
				m[name] = map[string]any{"length": len([]rune(v))}
			}
		case []any:
			if size(v) > longMember {
				m[name] = map[string]any{"length": len(v), "first": head(v, maxChanges)}
			}
		case map[string]any:
			if size(v) > longMember {
				m[name] = map[string]any{"length": len(v)}
			}
		}
	}
}

func size(v any) int {
	text, _ := json.Marshal(v) // was decoded from JSON
	return len(text)
}

// head returns the first elements of a list that fit into a number of bytes.
func head(list []any, most int) []any {
	kept := []any{}
	for _, v := range list {
		if most -= size(v) + 1; most < 0 {
			break
		}
		kept = append(kept, v)
	}
	return kept
}

// differences describes how a list changed. Elements are identified by their member "value", or else as a whole.
func differences(before, after []any) map[string]any {
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
	result := map[string]any{"length": len(after)}
	for name, list := range map[string][]any{"added": added, "removed": removed, "changed": changed} {
		kept := head(list, maxChanges/3)
		result[name] = kept
		if len(kept) < len(list) {
			result[name+"Total"] = len(list)
		}
	}
	return result
}

func identity(v any) string {
	if m, ok := v.(map[string]any); ok {
		if value, ok := m["value"].(string); ok {
			return value
		}
	}
	text, _ := json.Marshal(v) // was decoded from JSON
	return string(text)
}
