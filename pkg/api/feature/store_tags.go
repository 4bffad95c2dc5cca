package feature

import (
	"maps"
	"slices"

	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/toggle"
)

// newTagTypes returns the types of which the edits give toggles their first tag, sorted. The type simple, which always
// exists, is left out.
func (t *transaction) newTagTypes() []string {
	names := map[string]bool{}
	for _, e := range t.edits {
		had := e.old.TagTypes()
		for _, name := range e.next.TagTypes() {
			if name != toggle.DefaultTagType && !slices.Contains(had, name) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// addTagTypes adds the actions that fail if the type of a tag does not exist.
func (t *transaction) addTagTypes() {
	for _, name := range t.newTagTypes() {
		action := "tag type " + name
		t.missing[action] = tagtype.NotFound(name)
		t.actions.Add(action, tagtype.Use(t.store.access, name)...)
	}
}
