package jsonbody

import (
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/spelling"
)

// maxUnknown is the number of unknown properties of an object that an error names.
const maxUnknown = 10

// unknown returns the sentences about the properties that a schema with additionalProperties false does not declare.
// Each names the closest declared one if the two are similar.
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
		sentence := fmt.Sprintf("The `%s/%s` property is unknown", pointer, apierror.Echo(name))
		if closest := spelling.Closest(name, s.known); closest != "" {
			sentence += "; the closest one is `" + closest + "`"
		}
		all = append(all, sentence+".")
	}
	return all
}
