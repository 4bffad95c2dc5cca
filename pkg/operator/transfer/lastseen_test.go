package transfer_test

import (
	"testing"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// The last use of a toggle comes from where the toggle comes from. It does not go back, and is not after the import.
func TestImportLastSeen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := transfer.Document{
		Environments: []transfer.Environment{
			{Name: "development", Type: "development"}, {Name: "production", Type: "production"},
		},
		Features: []toggle.FeatureJSON{
			{Name: "a", Project: "p", Type: "release"}, {Name: "unused", Project: "p", Type: "release"},
			{Name: "skipped", Project: "p", Type: "none"},
		},
		LastSeen: map[string]map[string]string{
			"a": {
				"production": "2026-11-19T10:00:00.750Z", "development": "2030-01-01T00:00:00Z",
				"elsewhere": "2026-11-19T10:00:00Z",
			},
			"skipped": {"production": "2026-11-19T10:00:00Z"},
		},
	}
	lastSeen := func(name string) map[string]string {
		times := map[string]string{}
		item := s.Get(t, s.Tables[featuretable.Table], featuretable.Key(name))
		for environment, at := range featuretable.DecodeTimes(item.String(featuretable.AttributeLastSeen)) {
			times[environment] = at.Format("2006-01-02 15:04:05")
		}
		return times
	}
	s.run(t, d, transfer.Options{})
	want := map[string]string{"production": "2026-11-19 10:00:00", "development": "2026-11-20 05:39:00"}
	assert.Equal(t, want, lastSeen("a"))
	assert.Equal(t, map[string]string{}, lastSeen("unused"))

	d.LastSeen["a"] = map[string]string{"production": "2026-11-19T09:00:00Z", "development": "yesterday"}
	events := s.Events(t)
	r := s.run(t, d, transfer.Options{})
	assert.Equal(t, want, lastSeen("a"))
	assert.Equal(t, []transfer.Remark{
		{Name: "a", Text: `its last use in development was not imported: "yesterday" is not a time`},
	}, r.Features.Notes)

	d.LastSeen["a"] = map[string]string{"production": "2026-11-19T11:00:00Z"}
	s.run(t, d, transfer.Options{DryRun: true})
	assert.Equal(t, want, lastSeen("a"))
	s.run(t, d, transfer.Options{Project: "p"})
	want["production"] = "2026-11-19 11:00:00"
	assert.Equal(t, want, lastSeen("a"))
	assert.Equal(t, events, s.Events(t))
}
