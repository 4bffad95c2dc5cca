package unleash_test

import (
	"testing"

	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/operator/unleash"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// Today's export has the strategies of one environment, which it names only beside the switches.
func TestParse(t *testing.T) {
	t.Parallel()
	d, err := unleash.Parse([]byte(`{"features":[{"name":"a","description":"","type":"release","project":"shop","stale":true,"impressionData":true,"archived":false}],
		"featureStrategies":[{"id":"01A","name":"flexibleRollout","featureName":"a","parameters":{"stickiness":"plan"},
				"constraints":[{"contextName":"userId","operator":"IN","values":["7"]}],"variants":[]},
			{"id":"01B","name":"default","featureName":"a"}],
		"featureEnvironments":[{"featureName":"a","environment":"production","enabled":true,"name":"production",
			"variants":[{"name":"v","weight":1000,"stickiness":"tenantId","overrides":[{"contextName":"region"}]}]}],
		"featureTags":[{"featureName":"a","tagType":"simple","tagValue":"x"}],"tagTypes":[{"name":"simple","description":"s","icon":"#","color":null}],
		"links":[{"feature":"a","links":[{"url":"https://example.com","title":null}]}],
		"contextFields":[{"name":"plan","description":"","sortOrder":1,"legalValues":[]}],"segments":[],
		"dependencies":[{"feature":"a","dependencies":[{"feature":"parent","enabled":false}]}]}`))
	assert.OK(t, err)
	assert.JSON(t, "testdata/parsed.json", d)
	assert.Equal(t, map[string][]string{"a": {
		`its variants in production were not imported: strategy 1 (flexibleRollout): its type or its parameters permit no ` +
			`variants`, "it was turned off in production",
	}}, d.Losses)
	assert.Equal(t, map[string][]string{"a": {"production"}}, d.TurnedOff)
	assert.Equal(t, []transfer.Environment{{Name: "production", Type: "production"}}, d.Unlisted)
}

// The exports of versions up to 5 have times. Version 1 has neither projects nor environments.
func TestParseOldExport(t *testing.T) {
	t.Parallel()
	for text, environment := range map[string]string{
		`{"version":4,"features":[{"name":"old","project":"default","type":"release","createdAt":"2021-09-17T07:06:40.925Z",
			"archived":true,"archivedAt":"2022-05-01T00:00:00.000Z","variants":[{"name":"v","weight":1000}]}],
			"featureStrategies":[{"featureName":"old","environment":"production","strategyName":"userWithId","parameters":{"userIds":"7"}}],
			"featureEnvironments":[{"featureName":"old","environment":"production","enabled":true}]}`: "production",
		`{"version":1,"features":[{"name":"old","createdAt":"2021-09-17T07:06:40.925Z","archivedAt":"2022-05-01T00:00:00.000Z",
			"enabled":true,"variants":[{"name":"v","weight":1000}],"strategies":[{"name":"userWithId","parameters":{"userIds":"7"}}]}]}`: "default",
	} {
		d, err := unleash.Parse([]byte(text))
		assert.OK(t, err)
		assert.Equal(t, []toggle.FeatureJSON{{
			Name:       "old",
			Project:    "default",
			Type:       "release",
			CreatedAt:  new("2021-09-17T07:06:40.925Z"),
			Archived:   true,
			ArchivedAt: new("2022-05-01T00:00:00.000Z"),
			Environments: map[string]toggle.Environment{environment: {
				Enabled: true,
				Strategies: []toggle.Strategy{{
					Name:        "flexibleRollout",
					Parameters:  map[string]string{"rollout": "100", "stickiness": "default", "groupId": "old", "userIds": "7"},
					Constraints: []toggle.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"7"}}},
					Variants:    []toggle.Variant{{Name: "v", Weight: 1000, WeightType: "variable", Stickiness: "default"}},
				}},
			}},
		}}, d.Features)
		assert.Equal(t, []string{"its variants in " + environment + " were put into its strategies"}, d.Notes["old"])
	}
	for _, text := range []string{`{"features":[]}`, `{"version":2,"features":[{"name":"a"}]}`} {
		_, err := unleash.Parse([]byte(text))
		assert.ErrorIs(t, err, unleash.ErrFormat)
	}
}

// The state of a server has the segments of strategies in a list of its own.
func TestParseSegments(t *testing.T) {
	t.Parallel()
	d, err := unleash.Parse([]byte(`{"version":4,"features":[{"name":"a"}],
		"featureStrategies":[{"id":"01A","featureName":"a","environment":"production","strategyName":"default"}],
		"featureEnvironments":[{"featureName":"a","environment":"production","enabled":true}],
		"segments":[{"id":3,"name":"Beta","constraints":[]}],
		"featureStrategySegments":[{"featureStrategyId":"01A","segmentId":3}]}`))
	assert.OK(t, err)
	assert.Equal(t, "Beta", d.Segments[0].Name)
	assert.Equal(t, []int64{3}, d.Features[0].Environments["production"].Strategies[0].Segments)
}
