package toggle_test

import (
	"testing"

	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// The parameters of each type, with their defaults. An empty one is required.
func TestDefaultParameters(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string]map[string]string{
		"default":                 {},
		"flexibleRollout":         {"rollout": "100", "stickiness": "default", "groupId": "checkout"},
		"remoteAddress":           {"IPs": ""},
		"applicationHostname":     {"hostNames": ""},
		"userWithId":              {"userIds": ""},
		"gradualRolloutUserId":    {"percentage": "", "groupId": "checkout"},
		"gradualRolloutSessionId": {"percentage": "", "groupId": "checkout"},
		"gradualRolloutRandom":    {"percentage": "", "groupId": "checkout"},
		"unknown":                 nil,
	} {
		assert.Equal(t, want, toggle.DefaultParameters(strategy, "checkout"))
	}
	for _, strategy := range toggle.StrategyTypes() {
		defaults := toggle.DefaultParameters(strategy.Name, "checkout")
		for _, p := range strategy.Parameters {
			assert.Equal(t, p.IsRequired(), defaults[p.Name] == "")
		}
	}
}
