package tagtype

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/platform/consistency"
)

// Check finds types of tags that toggles have, and that do not exist. A restore of one table can leave them. The repair
// creates the type. It is a consistency.Check.
func (s *Store) Check(ctx context.Context) (string, []consistency.Inconsistency, error) {
	tagged, err := s.tagged(ctx) // before the types, so that the type of a new tag is among them
	if err != nil {
		return "", nil, err
	}
	all, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	for _, t := range all {
		delete(tagged, t.Name)
	}
	var found []consistency.Inconsistency
	for _, name := range slices.Sorted(maps.Keys(tagged)) {
		found = append(found, consistency.Inconsistency{
			Text:   fmt.Sprintf("the tag type %q, which is used, does not exist", name),
			Repair: func(ctx context.Context) error { return s.Create(ctx, TagType{Name: name}) },
		})
	}
	return fmt.Sprintf("%d, consistent with the tags of toggles", len(all)), found, nil
}
