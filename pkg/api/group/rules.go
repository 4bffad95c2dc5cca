package group

import (
	"fmt"
	"unicode/utf8"

	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/toggle"
)

// The maximum numbers of characters and values, as in create.schema.json.
const (
	maxName        = 100
	maxDescription = 1000
	maxValues      = 20
	maxValue       = 255
)

// Check returns nil if a group is valid in itself. Its error begins with what of the group is wrong.
func Check(g accesstable.Group) error {
	switch {
	case utf8.RuneCountInString(g.Name) > maxName || !toggle.IsReadable(g.Name):
		return fmt.Errorf("the name must have 1 to %d characters, of which one is visible", maxName)
	case g.Description != nil && utf8.RuneCountInString(*g.Description) > maxDescription:
		return fmt.Errorf("the description must have at most %d characters", maxDescription)
	case len(g.Mappings) > maxValues:
		return fmt.Errorf("there must be at most %d values of ID tokens", maxValues)
	}
	for _, value := range g.Mappings {
		if n := utf8.RuneCountInString(value); n < 1 || n > maxValue {
			return fmt.Errorf("each value of ID tokens must have 1 to %d characters", maxValue)
		}
	}
	return nil
}
