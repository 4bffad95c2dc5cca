package accesstable

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
)

// IsCounter reports whether a key of the table is that of a counter of ids, which only rises.
func IsCounter(key dynamo.Item) bool { return key.String(Hash) == string(KindCounter) }

// IsProject reports whether an item of the table is a project.
func IsProject(item dynamo.Item) bool { return item.String(Hash) == string(KindProject) }

// RemoveMembers takes all roles in a project from its item.
func RemoveMembers(project dynamo.Item) {
	for _, attribute := range []string{AttributeUsers, AttributeGroups} {
		project[attribute] = dynamo.M(dynamo.Item{})
	}
}

// CheckNames compares the reserved names of a kind with those that roles or groups have. has are their ids by name, as it
// is reserved. what is how texts call one of them.
func (s *Reader) CheckNames(ctx context.Context, kind Kind, what string, has map[string]int64) (
	found []consistency.Inconsistency, err error,
) {
	reserved := map[string]dynamo.Item{}
	for item, err := range dynamo.Query(ctx, s.client, s.table, Hash, dynamo.S(string(kind))) {
		if err != nil {
			return nil, fmt.Errorf("list the items %s: %w", kind, err)
		}
		reserved[item.String(Range)] = item
	}
	for _, name := range slices.Sorted(maps.Keys(reserved)) {
		if _, ok := has[name]; !ok {
			of := reserved[name][attributeOf]
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the name %q is reserved for the %s %s, which does not have it", name, what, reserved[name].String(attributeOf)),
				Repair: dynamo.DeleteMatching(s.client, s.table, Key(kind, name), attributeOf, of),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		id := strconv.FormatInt(has[name], 10)
		if reserved[name].String(attributeOf) == id {
			continue
		}
		found = append(found, consistency.Inconsistency{
			Text: fmt.Sprintf("the name %q of the %s %s is not reserved for it", name, what, id),
			Repair: dynamo.ReplaceAttribute(s.client, s.table, Key(kind, name), []string{attributeOf},
				reserved[name][attributeOf], dynamo.S(id)),
		})
	}
	return found, nil
}

// CheckCounter compares the counter of ids of a kind with the highest one that was used.
func (s *Reader) CheckCounter(ctx context.Context, kind Kind, highest int64) ([]consistency.Inconsistency, error) {
	key := Key(KindCounter, string(kind))
	item, err := dynamo.Get(ctx, s.client, s.table, key)
	if err != nil {
		return nil, fmt.Errorf("get the counter of ids of the kind %s: %w", kind, err)
	}
	if item.Int(attributeLast) >= highest {
		return nil, nil
	}
	return []consistency.Inconsistency{{
		Text: fmt.Sprintf("the counter of %s ids is %d, below %d: ids would be reused", kind, item.Int(attributeLast), highest),
		Repair: dynamo.ReplaceAttribute(s.client, s.table, key, []string{attributeLast}, item[attributeLast],
			dynamo.N(highest)),
	}}, nil
}
