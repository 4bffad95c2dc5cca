package snapshottable_test

import (
	"slices"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

// Compilations with another epoch, version or id do not overwrite one another's parts.
func TestParts(t *testing.T) {
	t.Parallel()
	all := []snapshottable.Pointer{
		{Environment: "production", Epoch: "a", Version: 1, PartsID: "x"},
		{Environment: "production", Epoch: "b", Version: 1, PartsID: "x"},
		{Environment: "production", Epoch: "a", Version: 2, PartsID: "x"},
		{Environment: "production", Epoch: "a", Version: 1, PartsID: "y"},
	}
	stored := map[string]dynamo.Item{} // by sort key
	for i := range all {
		parts, ofTags, err := snapshottable.MarshalParts(body(all[i]), all[i].PartsID, time.Time{})
		assert.OK(t, err)
		all[i].Format, all[i].Parts, all[i].TagParts = snapshottable.Format, len(parts)-ofTags, ofTags
		for _, part := range parts {
			stored[part.String(snapshottable.AttributeItem)] = part
		}
	}
	for _, p := range all {
		var items []dynamo.Item
		for _, item := range stored {
			items = append(items, item)
		}
		got, err := snapshottable.UnmarshalParts(p, items)
		assert.OK(t, err)
		assert.Equal(t, string(body(p).Body), string(got.Body))
		assert.Equal(t, string(body(p).Tags), string(got.Tags))
		p.TagParts = 0 // as an earlier version of the service reads and writes it
		got, err = snapshottable.UnmarshalParts(p, items)
		assert.OK(t, err)
		assert.Equal(t, string(body(p).Body), string(got.Body))
		assert.Equal(t, true, got.Tags == nil)
		missing := slices.DeleteFunc(items, func(item dynamo.Item) bool { return snapshottable.BelongsTo(item, p) })
		_, err = snapshottable.UnmarshalParts(p, missing)
		assert.ErrorIs(t, err, snapshottable.ErrUnreadable)
	}
}

// body returns a snapshot for a pointer, with a body of its own.
func body(p snapshottable.Pointer) snapshot.Snapshot {
	return snapshot.Snapshot{
		Environment: p.Environment, Epoch: p.Epoch, Version: p.Version, Versions: snapshot.Versions{},
		Body: []byte(p.Epoch + string(rune('0'+p.Version)) + p.PartsID), Tags: []byte("tags of " + p.PartsID),
	}
}
