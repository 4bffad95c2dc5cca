package toggle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Tag is a label of a toggle: a value of a tag type. People find toggles by their tags.
type Tag struct {
	Type  string `json:"type"` // the name of its TagType
	Value string `json:"value"`
}

// DefaultTagType is the tag type that every new installation has.
const DefaultTagType = "simple"

const (
	// MaxTags is the maximum number of tags of a toggle.
	MaxTags = 50
	// minTag and maxTag limit the value of a tag, and the name of a tag type, in characters.
	minTag = 2
	maxTag = 50
)

var errTagValue = errors.New("must have no control characters, and no white space at its start and end")

// String returns the text that names a tag in parameters, such as simple:checkout.
func (t Tag) String() string { return t.Type + ":" + t.Value }

// ParseTag reads the text of a tag. ok is false if it has no type or no value. A type has no colon.
func ParseTag(text string) (tag Tag, ok bool) {
	kind, value, _ := strings.Cut(text, ":")
	return Tag{Type: kind, Value: value}, kind != "" && value != ""
}

// CheckTagValue returns nil if a tag can have the value. Otherwise the error says what is wrong.
func CheckTagValue(value string) error {
	if n := utf8.RuneCountInString(value); n < minTag || n > maxTag {
		return fmt.Errorf("must have between %d and %d characters", minTag, maxTag)
	}
	if strings.TrimSpace(value) != value || !IsReadable(value) {
		return errTagValue
	}
	return nil
}

// CheckTagType returns nil if a tag type can have the name. Otherwise the error says what is wrong.
func CheckTagType(name string) error {
	if n := len(name); n < minTag || n > maxTag {
		return fmt.Errorf("must have between %d and %d characters", minTag, maxTag)
	}
	return CheckName(name)
}

// NormalizedTags returns tags in their order, without duplicates.
func NormalizedTags(tags []Tag) []Tag {
	return slices.Compact(slices.SortedFunc(slices.Values(tags), func(a, b Tag) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Value, b.Value))
	}))
}

// HasTag reports whether the toggle has a tag.
func (f Feature) HasTag(tag Tag) bool { return slices.Contains(f.Tags, tag) }

// ChangeTags removes tags from the toggle, and adds others. Tags that it has already, or has not, are ignored.
func (f *Feature) ChangeTags(removed, added []Tag) {
	kept := slices.DeleteFunc(slices.Clone(f.Tags), func(tag Tag) bool { return slices.Contains(removed, tag) })
	f.Tags = NormalizedTags(append(kept, added...))
}

// TagTypes returns the types of the tags of the toggle, sorted, without duplicates.
func (f Feature) TagTypes() []string {
	var names []string
	for _, tag := range f.Tags {
		names = append(names, tag.Type)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
