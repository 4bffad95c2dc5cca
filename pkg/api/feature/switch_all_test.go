package feature_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
	"toggleadmin/test/operation"
)

// Several toggles are turned on and off together. Those that have the state already do not change.
func TestSwitchAll(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`, `{"name":"g"}`)
	on := func() string {
		return fmt.Sprint(a.get(t, "f").EnabledEnvironments(), a.get(t, "g").EnabledEnvironments())
	}
	expect(t.Context(), t, a.Set, []call{
		{"on", "default/f/prod", "", "200"},
		{"all on", "default//prod", `{"features":["f","g","f"]}`, "200"},
		{"all on", "default//prod", `{"features":["f","g"]}`, "200"},
	})
	assert.Equal(t, "[prod] [prod]", on())
	expect(t.Context(), t, a.Set, []call{
		{"all off", "default//prod", `{"features":["g","f"]}`, "200"},
		{"all off", "default//prod", `{"features":["g","f"]}`, "200"},
		{"all on", "default//dev", `{"features":["g"]}`, "200"},
	})
	assert.Equal(t, "[] [dev]", on())
	const onAndOff = "feature-strategy-add prod, feature-environment-enabled prod, feature-environment-disabled prod"
	assert.Equal(t, onAndOff, a.recorded(t))
	assert.Equal(t, onAndOff+", feature-strategy-add dev, feature-environment-enabled dev", a.recordedOf(t, "g"))
}

// If one of the toggles cannot be changed, none changes.
func TestSwitchAllOrNone(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`, `{"name":"archived","archived":true}`, `{"name":"foreign","project":"p"}`)
	expect(t.Context(), t, a.Set, []call{
		{"all on", "default//prod", `{"features":["f","x"]}`, unknownIn("default", "x")},
		{"all on", "default//prod", `{"features":["f","foreign"]}`, unknownIn("default", "foreign")},
		{
			"all on", "default//prod", `{"features":["f","archived"]}`,
			`409 ConflictError: The toggle "archived" is archived. Revive it before you turn it on.`,
		},
		{"all on", "default//test", `{"features":["f"]}`, `404 NotFoundError: There is no environment with the name "test".`},
		{"all off", "default//prod", `{"features":["f","x"]}`, unknownIn("default", "x")},
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
	a.With("If-Match", `"old"`).Expect(t.Context(), t, "all on", "default//prod", `{"features":["archived"]}`, noEntityTag)
	// Another client archives a toggle after it was read.
	a.create(t, `{"name":"g"}`)
	through := activation(a.through(a.Before(t, "TransactWriteItems", 1, func() { a.update(t, "g", `{"archived":true}`) })))
	through.ExpectStatus(t.Context(), t, "all on", "default//prod", `{"features":["f","g"]}`, 409)
	assert.Equal(t, "", a.recorded(t))
	assert.Equal(t, 0, len(a.get(t, "f").Environments))
}

// The largest request fits into one transaction, unless it enables many strategies.
func TestSwitchManyToggles(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("t%02d", i))
		a.create(t, fmt.Sprintf(`{"name":%q,"environments":{"prod":{"strategies":[`+
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
	// 30 toggles with an event of each of two strategies and of the switch, and the references to the environment.
	on("prod", activate, names, "400 ValidationError: The change is too large for one transaction: it needs 121 actions, "+
		"and the maximum is 100. Send fewer toggles.")
	on("prod", activate, names[:24], "200")
	for i, name := range names {
		assert.Equal(t, i < 24, a.get(t, name).Environments["prod"].HasEnabledStrategies())
	}
}

// Toggles that are too large for one transaction are not changed.
func TestUpdateAllOfLargeToggles(t *testing.T) {
	t.Parallel()
	db := newActive(t)
	source := rand.NewChaCha8([32]byte{})
	large := toggle.Strategy{ID: "s", Name: toggle.StrategyDefault}
	for range 11 {
		values := make([]string, toggle.MaxConstraintValues)
		for i := range values {
			text := make([]byte, 50)
			_, _ = source.Read(text)
			values[i] = fmt.Sprintf("%x", text)
		}
		large.Constraints = append(large.Constraints, toggle.Constraint{
			ContextName: toggle.FieldUserID, Operator: toggle.OperatorIn, Values: values,
		})
	}
	var names []string
	for i := range 30 {
		f := newToggle(t, fmt.Sprintf(`{"name":"t%02d"}`, i))
		f.SetEnvironment("prod", toggle.Environment{Strategies: []toggle.Strategy{large}})
		_, err := db.store.Create(t.Context(), f)
		assert.OK(t, err)
		names = append(names, f.Name)
	}
	_, err := db.store.UpdateAll(t.Context(), names, with(`{"stale":true}`))
	assert.ErrorIs(t, err, feature.ErrTooManyChanges)
	assert.Equal(t, false, db.get(t, names[0]).Stale)
	_, err = db.store.UpdateAll(t.Context(), names[:20], with(`{"stale":true}`))
	assert.OK(t, err)
	assert.Equal(t, true, db.get(t, names[0]).Stale)
}

// The order of strategies changes as a whole. Those that are not in the list do not move.
func TestOrderStrategies(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	for range 3 {
		a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", `{"name":"default"}`, 200)
	}
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/dev", `{"name":"default"}`, 200)
	order := func() string {
		var all []string
		for _, s := range a.get(t, "f").Environments["prod"].Strategies {
			all = append(all, fmt.Sprint(s.ID, ":", s.SortOrder))
		}
		return strings.Join(all, " ")
	}
	assert.Equal(t, "s1:0 s2:1 s3:2", order())
	expect(t.Context(), t, a.Set, []call{
		{"order", "default/f/prod", `[{"id":"s3","sortOrder":0},{"id":"s1","sortOrder":2}]`, "200"},
		{"order", "default/f/prod", `[{"id":"s3","sortOrder":0}]`, "200"},
		{"order", "default/f/prod", `[]`, "200"},
		{"order", "default/f/test", `[]`, `404 NotFoundError: There is no environment with the name "test".`},
		{"order", "q/f/prod", `[]`, unknownIn("q", "f")},
		{
			"order", "default/f/prod", `[{"id":"s2","sortOrder":7},{"id":"s4","sortOrder":0}]`,
			"400 ValidationError: The `/body/1/id` property must be the id of a strategy of the toggle in the environment; " +
				`you sent "s4".`,
		},
		{
			"order", "default/f/prod", `[{"id":"s1","sortOrder":1},{"id":"s2","sortOrder":0},{"id":"s1","sortOrder":0}]`,
			"400 ValidationError: The `/body/2/id` property must not be that of `/body/0`; you sent \"s1\".",
		},
		{
			"order", "default/f/prod", `[{"id":"s1","sortOrder":2147483648}]`,
			"400 ValidationError: The `/body/0/sortOrder` property must be at most 2147483647; you sent 2147483648.",
		},
	})
	assert.Equal(t, "s3:0 s2:1 s1:2", order())
	a.With("If-None-Match", "*").Expect(t.Context(), t, "order", "default/f/prod", `[]`, exists)
	events := a.Events(t)
	assert.Equal(t, `strategy-order-changed toggle:f by system: {"strategyIds":["s3","s2","s1"]} `+
		`before {"strategyIds":["s1","s2","s3"]}`, events[len(events)-1])
}
