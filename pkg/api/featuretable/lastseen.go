package featuretable

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EncodeLastSeen returns the value of AttributeLastSeen: for each environment its name and the time in seconds since
// 1970, separated by spaces. It is one attribute with a short text, because searches read it of all toggles.
func EncodeLastSeen(lastSeen map[string]time.Time) string {
	var parts []string
	for _, environment := range slices.Sorted(maps.Keys(lastSeen)) {
		parts = append(parts, fmt.Sprintf("%s %d", environment, lastSeen[environment].Unix()))
	}
	return strings.Join(parts, " ")
}

// DecodeLastSeen reads the value of AttributeLastSeen. It ignores what EncodeLastSeen did not write.
func DecodeLastSeen(value string) map[string]time.Time {
	var lastSeen map[string]time.Time
	for environment, at := range lastSeenOf(value) {
		if lastSeen == nil {
			lastSeen = map[string]time.Time{}
		}
		lastSeen[environment] = time.Unix(at, 0).UTC()
	}
	return lastSeen
}

// lastSeenOf yields the environments and times of a value.
func lastSeenOf(value string) iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for value != "" {
			var environment, seconds string
			environment, value, _ = strings.Cut(value, " ")
			seconds, value, _ = strings.Cut(value, " ")
			at, err := strconv.ParseInt(seconds, 10, 64)
			if err == nil && !yield(environment, at) {
				return
			}
		}
	}
}
