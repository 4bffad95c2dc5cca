package transfer

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/toggle"
)

// TagType is a type of tags. A document does not have the type simple unless it was changed.
type TagType struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Icon        *string `json:"icon"`
	Color       *string `json:"color"`
}

func fromTagType(t tagtype.TagType) TagType { return TagType{t.Name, t.Description, t.Icon, t.Color} }

// colorPattern is that of the schema of tag types. Unleash also has names of colors.
var colorPattern = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// prepareTagType returns a tag type as it will be stored. old is the stored one, or nil.
func prepareTagType(t TagType, _ *TagType) (TagType, remarks, error) {
	var about remarks
	if err := toggle.CheckTagType(t.Name); err != nil {
		return t, about, fmt.Errorf("its name %.100q %w", t.Name, err)
	}
	description := &t.Description
	about.cutOptional(&description, "its description", toggle.MaxDescription)
	t.Description = *description
	about.cutOptional(&t.Icon, "its icon", toggle.MaxText)
	if t.Color != nil && !colorPattern.MatchString(*t.Color) {
		about.note("its color %.50q is not # and six hexadecimal digits, and was not imported", *t.Color)
		t.Color = nil
	}
	return t, about, nil
}

// importTagTypes imports the tag types of a document. It returns those that exist then.
func (i Installation) importTagTypes(ctx context.Context, d Document, o Options, stored []TagType, s *Section) (
	map[string]TagType, error,
) {
	stored = append([]TagType{fromTagType(tagtype.Simple())}, stored...) // a stored one comes later
	types := merge[TagType]{
		id: func(t TagType) string { return t.Name }, prepare: prepareTagType,
		create: func(ctx context.Context, t TagType) error {
			return i.TagTypes.Create(ctx,
				tagtype.TagType{Name: t.Name, Description: t.Description, Icon: t.Icon, Color: t.Color})
		},
		read: func(ctx context.Context, name string) (TagType, error) {
			t, err := i.TagTypes.Get(ctx, name)
			return fromTagType(t), err
		},
		update: func(ctx context.Context, t TagType) error {
			return i.TagTypes.Update(ctx, t.Name, func(stored *tagtype.TagType) error {
				stored.Description, stored.Icon, stored.Color = t.Description, t.Icon, t.Color
				return nil
			})
		},
	}
	if len(d.TagTypes) > 0 {
		*s = newSection()
	}
	return types.run(ctx, o, "tag types", stored, d.TagTypes, s)
}

// prepareTags leaves out tags that a toggle cannot have.
func (r resources) prepareTags(t *toggle.FeatureJSON, about *remarks) {
	var kept []toggle.Tag
	for _, tag := range t.Tags {
		tag.Value = strings.TrimSpace(tag.Value)
		_, known := r.tagTypes[tag.Type]
		switch err := toggle.CheckTagValue(tag.Value); {
		case !known:
			about.note("its tag %.100q was not imported: the tag type does not exist here", tag)
		case err != nil:
			about.note("its tag %.100q was not imported: the value %v", tag, err)
		case len(kept) == toggle.MaxTags:
			about.note("it has more than %d tags, and was imported without %.100q", toggle.MaxTags, tag)
		default:
			kept = append(kept, tag)
		}
	}
	t.Tags = toggle.Feature{Tags: kept}.Normalized().Tags
}
