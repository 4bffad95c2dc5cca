package jsonbody

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/platform/apierror"
)

const (
	// maxUnknown is the number of unknown properties of an object that an error names.
	maxUnknown = 10
	// maxCompared is the number of bytes of an unknown name that is compared with the known ones.
	maxCompared = 100
)

// unknown returns the sentences about the properties that a schema with additionalProperties false does not declare.
// Each names the closest declared one.
func (s *Schema) unknown(pointer string, object Object) (all []string) {
	if s.known == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, declared := slices.BinarySearch(s.known, name); declared {
			continue
		}
		if len(all) == maxUnknown {
			break
		}
		all = append(all, fmt.Sprintf("The `%s/%s` property is unknown; the closest one is `%s`.",
			pointer, apierror.Echo(name), closest(name, s.known)))
	}
	return all
}

// closest returns the name with the lowest number of inserted, deleted and replaced bytes, without regard to letter
// case.
func closest(name string, known []string) string {
	name = strings.ToLower(name[:min(len(name), maxCompared)])
	return slices.MinFunc(known, func(a, b string) int {
		return distance(name, strings.ToLower(a)) - distance(name, strings.ToLower(b))
	})
}

// distance returns the Levenshtein distance of two texts, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
