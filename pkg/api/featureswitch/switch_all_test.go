package featureswitch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// Several toggles are turned on and off together. Those that have the state already do not change.
func TestSwitchAll(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`, `{"name":"g"}`)
	on := func() string {
		return fmt.Sprint(a.Toggle(t, "f").EnabledEnvironments(), a.Toggle(t, "g").EnabledEnvironments())
	}
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{"on", "default/f/prod", "", "200"},
		{"all on", "default//prod", `{"features":["f","g","f"]}`, "200"},
		{"all on", "default//prod", `{"features":["f","g"]}`, "200"},
	})
	assert.Equal(t, "[prod] [prod]", on())
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{"all off", "default//prod", `{"features":["g","f"]}`, "200"},
		{"all off", "default//prod", `{"features":["g","f"]}`, "200"},
		{"all on", "default//dev", `{"features":["g"]}`, "200"},
	})
	assert.Equal(t, "[] [dev]", on())
	const onAndOff = "feature-strategy-add prod, feature-environment-enabled prod, feature-environment-disabled prod"
	assert.Equal(t, onAndOff, a.Recorded(t))
	assert.Equal(t, onAndOff+", feature-strategy-add dev, feature-environment-enabled dev", a.RecordedOf(t, "g"))
}

// If one of the toggles cannot be toggles.Changed, none changes.
func TestSwitchAllOrNone(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`, `{"name":"archived","archived":true}`, `{"name":"foreign","project":"p"}`)
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{"all on", "default//prod", `{"features":["f","x"]}`, toggles.UnknownIn("default", "x")},
		{"all on", "default//prod", `{"features":["f","foreign"]}`, toggles.UnknownIn("default", "foreign")},
		{
			"all on", "default//prod", `{"features":["f","archived"]}`,
			`409 ConflictError: The toggle "archived" is archived. Revive it before you turn it on.`,
		},
		{"all on", "default//test", `{"features":["f"]}`, `404 NotFoundError: There is no environment with the name "test".`},
		{"all off", "default//prod", `{"features":["f","x"]}`, toggles.UnknownIn("default", "x")},
		{"all off", "default//prod", `{"features":["f","archived"]}`, "200"},
		{
			"all on", "default//prod", `{"features":[]}`,
			"400 ValidationError: The `/body/features` property must have 1 or more elements; you sent [].",
		},
		{
			"all off", "default//prod", `{"features":[` + strings.Repeat(`"a",`, 30) + `"a"]}`,
			"400 ValidationError: The `/body/features` property must have at most 30 elements; you sent [" +
				strings.Repeat(`"a",`, 24) + `"a"….`,
		},
		{
			"all off", "default//prod", `{"feature":["f"],"features":["f"]}`,
			"400 ValidationError: The `/body/feature` property is unknown; the closest one is `features`.",
		},
	})
	a.With("If-Match", `"old"`).Expect(t.Context(), t, "all on", "default//prod", `{"features":["archived"]}`, toggles.NoEntityTag)
	// Another client archives a toggle after it was read.
	a.Create(t, `{"name":"g"}`)
	through := toggles.Activation(a.StoreOn(a.Before(t, "TransactWriteItems", 1, func() { a.Update(t, "g", `{"archived":true}`) })))
	through.ExpectStatus(t.Context(), t, "all on", "default//prod", `{"features":["f","g"]}`, 409)
	assert.Equal(t, "", a.Recorded(t))
	assert.Equal(t, 0, len(a.Toggle(t, "f").Environments))
}

// The largest request fits into one transaction, unless it enables many strategies.
func TestSwitchManyToggles(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("t%02d", i))
		a.Create(t, fmt.Sprintf(`{"name":%q,"environments":{"prod":{"strategies":[`+
			`{"id":"%[1]s-1","name":"default","disabled":true},{"id":"%[1]s-2","name":"default","disabled":true}]}}}`, names[i]))
	}
	on := func(environment, query string, names []string, want string) {
		t.Helper()
		body, err := json.Marshal(map[string]any{"features": names})
		assert.OK(t, err)
		status, _, text := a.Serve(t.Context(), operation.Request{
			Operation: "all on", Path: "default//" + environment, Query: query, Body: string(body),
		})
		assert.Equal(t, want, strings.TrimSpace(fmt.Sprint(status, " ", text)))
	}
	on("dev", "", names, "200")
	const activate = "shouldActivateDisabledStrategies=true"
	// 30 toggles with an event of each of two strategies and of the switch, the references to the environment,
	// and the conditions on the project and the environment.
	on("prod", activate, names, "400 ValidationError: The change is too large for one transaction: it needs 123 actions, "+
		"and the maximum is 100. Send fewer toggles.")
	on("prod", activate, names[:24], "200")
	for i, name := range names {
		assert.Equal(t, i < 24, a.Toggle(t, name).Environments["prod"].HasEnabledStrategies())
	}
}
