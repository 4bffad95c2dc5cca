package unleash_test

import (
	"testing"

	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/operator/unleash"
	"toggleadmin/test/assert"
)

func TestParse(t *testing.T) {
	t.Parallel()
	d, err := unleash.Parse([]byte(`{"features":[{"name":"a","description":"","type":"release","project":"shop","stale":true,"impressionData":true,"archived":false}],
		"featureStrategies":[{"featureName":"a","parameters":{"stickiness":"plan"},"constraints":[{"contextName":"userId"}],"variants":[],"segments":[1]}],
		"featureEnvironments":[{"featureName":"a","variants":[{"stickiness":"tenantId","overrides":[{"contextName":"region"}]}]}],
		"contextFields":[{"name":"plan","description":"","sortOrder":1,"legalValues":[]}],"segments":[]}`))
	assert.OK(t, err)
	assert.JSON(t, "testdata/parsed.json", d)
	assert.Equal(t, []bool{true, true}, []bool{d.Partial, d.Features[0].UsesSegments})
}

// The exports of versions up to 5 have times. Version 1 has neither projects nor featureStrategies.
func TestParseOldExport(t *testing.T) {
	t.Parallel()
	created, archived := "2021-09-17T07:06:40.925Z", "2022-05-01T00:00:00.000Z"
	want := transfer.Toggle{Name: "old", Project: "default", Type: "release", CreatedAt: &created, Archived: true,
		ArchivedAt: &archived, ContextFields: []string{"tenantId", "plan"}}
	for _, text := range []string{
		`{"version":4,"features":[{"name":"old","project":"default","type":"release","createdAt":"2021-09-17T07:06:40.925Z",
			"archived":true,"archivedAt":"2022-05-01T00:00:00.000Z","variants":[{"stickiness":"tenantId"}]}],
			"featureStrategies":[{"featureName":"old","parameters":{},"constraints":[{"contextName":"plan"}]}]}`,
		`{"version":1,"features":[{"name":"old","createdAt":"2021-09-17T07:06:40.925Z","archivedAt":"2022-05-01T00:00:00.000Z",
			"variants":[{"overrides":[{"contextName":"tenantId"}]}],"strategies":[{"constraints":[{"contextName":"plan"}]}]}]}`,
	} {
		d, err := unleash.Parse([]byte(text))
		assert.OK(t, err)
		assert.Equal(t, []transfer.Toggle{want}, d.Features)
	}
	for _, text := range []string{`{"features":[]}`, `{"version":2,"features":[{"name":"a"}]}`} {
		_, err := unleash.Parse([]byte(text))
		assert.ErrorIs(t, err, unleash.ErrFormat)
	}
}
