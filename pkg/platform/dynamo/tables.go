package dynamo

import (
	"strings"
	"unicode"
)

// Tables contains the physical names of tables by their logical ids in template.yaml, such as FeatureTypes. A function
// has only the tables that it uses.
type Tables map[string]string

// Variable returns the environment variable with the physical name of a table: FEATURE_TYPES_TABLE for FeatureTypes.
func Variable(id string) string {
	var words strings.Builder
	for i, c := range id {
		if i > 0 && unicode.IsUpper(c) {
			words.WriteByte('_')
		}
		words.WriteRune(unicode.ToUpper(c))
	}
	return words.String() + "_TABLE"
}
