package eventlog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/test/assert"
)

// TestLongUnchangedData checks that of data which are too large the changed members stay, and that a changed order is
// seen.
func TestLongUnchangedData(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	values := make([]any, 100)
	for i := range values {
		values[i] = strings.Repeat("<", 150) + fmt.Sprint(i)
	}
	update := func(a, b string, before []any) eventlog.Event {
		f.record(t.Context(), t, eventlog.Change{
			Type: eventlog.ContextFieldUpdated, Subject: "field:f",
			Data:    map[string]any{"description": a, "legalValues": values},
			PreData: map[string]any{"description": b, "legalValues": before},
		})
		page, _, err := f.Search(t.Context(), eventlog.Filter{}, 0, 1)
		assert.OK(t, err)
		return page[0]
	}
	a, b := strings.Repeat("a", 1000), strings.Repeat("b", 1000)
	e := update(a, b, values)
	if !strings.Contains(string(e.Data), a) || !strings.Contains(string(e.PreData), b) ||
		!strings.HasSuffix(e.Summary(), ": description.") {
		t.Errorf("%s %s %s", e.Summary(), e.Data, e.PreData)
	}
	reordered := slices.Clone(values)
	slices.Reverse(reordered)
	if e := update(a, a, reordered); !strings.Contains(string(e.Data), `"reordered":true`) {
		t.Errorf("%s", e.Data)
	}
	if e := update(a, a, values[50:]); strings.Count(string(e.Data), "<<") < 50*75 {
		t.Errorf("%s", e.Data)
	}
}

// TestLongData checks that data which are too large are shortened member by member.
func TestLongData(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	values := func(n int, changed string) []any {
		all := make([]any, n)
		for i := range all {
			all[i] = map[string]any{"value": strings.Repeat("v", 20) + time.Duration(i).String(), "description": changed}
		}
		return all
	}
	f.record(t.Context(), t, eventlog.Change{
		Type: eventlog.ContextFieldUpdated, Subject: "field:f",
		Data:    map[string]any{"name": "f", "description": strings.Repeat("é", 1000), "legalValues": values(999, "")},
		PreData: map[string]any{"name": "f", "legalValues": append(values(998, ""), map[string]any{"value": "gone"})},
	})
	page, _, err := f.Search(t.Context(), eventlog.Filter{}, 0, 1)
	assert.OK(t, err)
	var after, before map[string]any
	assert.OK(t, json.Unmarshal(page[0].Data, &after), json.Unmarshal(page[0].PreData, &before))
	description, _ := after["description"].(map[string]any)
	if sum, _ := description["sha256"].(string); len(sum) != 16 {
		t.Error(description)
	}
	delete(description, "sha256")
	want := map[string]any{
		"name": "f", "description": map[string]any{"length": 1000.0}, "legalValues": map[string]any{
			"length": 999.0, "added": values(999, "")[998:], "removed": []any{map[string]any{"value": "gone"}},
			"changed": []any{},
		},
	}
	assert.Equal(t, want, after)
	assert.Equal(t, map[string]any{"name": "f", "legalValues": map[string]any{"length": 999.0}}, before)
	f.record(t.Context(), t, eventlog.Change{
		Type: eventlog.ContextFieldCreated, Subject: "field:g", Data: map[string]any{"legalValues": values(1000, "x")},
	})
	for _, item := range f.Scan(t, f.Tables.Events) {
		if n := len(item.String("data")) + len(item.String("preData")); n > eventlog.MaxSize {
			t.Errorf("%d bytes", n)
		}
	}
}
