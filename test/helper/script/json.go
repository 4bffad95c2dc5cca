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

// lookup returns the value at a path, such as types[id=release].lifetimeDays or 0.name, and whether it exists. "." is
// the value itself.
func lookup(value any, path string) (any, bool) {
	for step := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
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

// element returns the element of a list with an index, or, for member=value, the first one with this member.
func element(list []any, step string) (any, bool) {
	member, want, isSelector := strings.Cut(step, "=")
	for i, candidate := range list {
		if object, ok := candidate.(map[string]any); isSelector && ok && fmt.Sprint(object[member]) == want ||
			step == strconv.Itoa(i) {
			return candidate, true
		}
	}
	return nil, false
}

// equal compares a value with a script's text: as JSON if the text is JSON, otherwise as a string.
func equal(value any, text string) bool {
	var want any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		want = text
	}
	return reflect.DeepEqual(value, want)
}

// show returns a string as it is and any other value as JSON.
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

// hasMembers reports whether a value is an object with exactly these members.
func hasMembers(value any, names []string) bool {
	object, ok := value.(map[string]any)
	return ok && slices.Equal(slices.Sorted(maps.Keys(object)), slices.Sorted(slices.Values(names)))
}
