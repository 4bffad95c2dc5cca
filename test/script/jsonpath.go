package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// lookup finds the value at a place such as types[id=release].lifetimeDays or 0.name; "." is the value itself. The second result says
// whether the place exists.
func lookup(value any, place string) (any, bool) {
	if place == "." {
		return value, true
	}
	for step := range strings.SplitSeq(strings.ReplaceAll(place, "[", ".["), ".") {
		if step == "" {
			continue
		}
		var ok bool
		switch container := value.(type) {
		case map[string]any:
			value, ok = container[step]
		case []any:
			value, ok = element(container, step)
		}
		if !ok {
			return nil, false
		}
	}
	return value, true
}

// element finds an element of a list by its index or, [member=value], by a member's value.
func element(list []any, step string) (any, bool) {
	if selector, ok := strings.CutPrefix(step, "["); ok {
		member, want, _ := strings.Cut(strings.TrimSuffix(selector, "]"), "=")
		for _, candidate := range list {
			if object, ok := candidate.(map[string]any); ok && fmt.Sprint(object[member]) == want {
				return candidate, true
			}
		}
		return nil, false
	}
	index, err := strconv.Atoi(step)
	if err != nil || index < 0 || index >= len(list) {
		return nil, false
	}
	return list[index], true
}

// same says whether a value is what a script wrote: as JSON where the text reads as JSON, else as a string.
func same(value any, text string) bool {
	var want any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		want = text
	}
	return reflect.DeepEqual(value, want)
}

// show gives a value as JSON; a string as it is.
func show(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

// hasMembers says whether a value is an object with exactly these members.
func hasMembers(value any, names []string) bool {
	object, ok := value.(map[string]any)
	return ok && slices.Equal(slices.Sorted(maps.Keys(object)), slices.Sorted(slices.Values(names)))
}

// length gives the number of elements of a list, of members of an object, of bytes of a string.
func length(value any) int {
	switch v := value.(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	case string:
		return len(v)
	default:
		return -1
	}
}
