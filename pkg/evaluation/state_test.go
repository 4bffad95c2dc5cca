package evaluation_test

import (
	"testing"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
)

func TestNewState(t *testing.T) {
	t.Parallel()
	var (
		on       = toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{ID: "1", Name: "default"}}}
		inProd   = map[string]toggle.Environment{"production": on}
		inDev    = map[string]toggle.Environment{"development": on}
		parent   = toggle.Dependency{Feature: "parent", Enabled: true}
		segments = []toggle.Segment{{ID: 1, Name: "Adults"}}
	)
	state := evaluation.NewState("production", []toggle.Feature{
		{Name: "child", ImpressionData: true, Environments: inProd, Dependency: &parent},
		{Name: "parent", Environments: inDev},
		{Name: "archived", Archived: true, Environments: inProd},
	}, segments)
	assert.Equal(t, evaluation.State{
		Features: []evaluation.Feature{
			{
				Name: "child", Enabled: true, ImpressionData: true, Strategies: on.Strategies,
				Dependencies: []toggle.Dependency{parent},
			},
			{Name: "parent"},
		},
		Segments: segments,
	}, state)
}
