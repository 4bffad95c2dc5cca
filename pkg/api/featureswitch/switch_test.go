package featureswitch_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// A toggle is on only with an enabled strategy.
func TestSwitch(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	state := func(enabled bool, strategies ...string) string {
		return fmt.Sprintf(`200 {"name":"f","environment":"prod","enabled":%t,"type":"prodelopment","strategies":[%s]}`,
			enabled, strings.Join(strategies, ","))
	}
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{"state", "default/f/prod", "", state(false)},
		{"on", "default/f/prod", "", "200"},
		{"on", "default/f/prod", "not read", "200"},
		{"state", "default/f/prod", "", state(true, toggles.Everybody("s1", 0, false))},
		{"off", "default/f/prod", "", "200"},
		{"off", "default/f/prod", "", "200"},
		{"on", "default/f/prod", "", "200"},
		{"update strategy", "default/f/prod/s1", `{"disabled":true}`, "200 " + toggles.Everybody("s1", 0, true)},
		{"state", "default/f/prod", "", state(false, toggles.Everybody("s1", 0, true))},
		{"on", "default/f/prod", "", "200"},
		{"state", "default/f/prod", "", state(true, toggles.Everybody("s1", 0, true), toggles.Everybody("s2", 1, false))},
		{"delete strategy", "default/f/prod/s2", "", "200"},
		{"state", "default/f/prod", "", state(false, toggles.Everybody("s1", 0, true))},
	})
	assert.Equal(t, "feature-strategy-add prod, feature-environment-enabled prod, "+
		"feature-environment-disabled prod, feature-environment-enabled prod, "+
		"feature-strategy-update prod, feature-environment-disabled prod, "+
		"feature-strategy-add prod, feature-environment-enabled prod, "+
		"feature-environment-disabled prod, feature-strategy-remove prod", a.Recorded(t))
}

// A disabled strategy is enabled on request, instead of adding one.
func TestActivateDisabledStrategies(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	on := func(query string) {
		t.Helper()
		status, _, text := a.Serve(t.Context(), operation.Request{Operation: "on", Path: "default/f/dev", Query: query})
		assert.Equal(t, 200, status)
		assert.Equal(t, "", text)
	}
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{"add strategy", "default/f/dev", `{"name":"flexibleRollout","disabled":true}`, "200 " + toggles.Everybody("s1", 0, true)},
	})
	on("shouldActivateDisabledStrategies=true")
	a.Expect(t.Context(), t, "strategies", "default/f/dev", "", "200 ["+toggles.Everybody("s1", 0, false)+"]")
	assert.Equal(t, "feature-strategy-add dev, feature-strategy-update dev, feature-environment-enabled dev",
		a.Recorded(t))
}
