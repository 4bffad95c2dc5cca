package featurestrategy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// The stored form of strategies, and what is wrong with others.
func TestStrategyBodies(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	// stored is a strategy with the type, parameters and the rest of its properties.
	stored := func(name, parameters, variants string) string {
		return fmt.Sprintf(`200 {"id":"ID","name":%q,"title":null,"disabled":false,"sortOrder":0,"constraints":[],`+
			`"parameters":%s,"variants":%s,"segments":[]}`, name, parameters, variants)
	}
	const rollout = `{"groupId":"f","rollout":"100","stickiness":"default"}`
	// variants returns the JSON form of variable variants with names and weights.
	variants := func(all ...any) string {
		var list []string
		for i := 0; i < len(all); i += 2 {
			list = append(list, fmt.Sprintf(`{"name":%q,"weight":%d,"weightType":"variable","stickiness":"default"}`,
				all[i], all[i+1]))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	invalid := func(message string) string { return "400 ValidationError: " + message }
	for _, test := range []struct{ body, want string }{
		{`{"name":"default"}`, stored("default", "{}", "[]")},
		{`{"name":"flexibleRollout"}`, stored("flexibleRollout", rollout, "[]")},
		{
			`{"name":"flexibleRollout","parameters":{"rollout":"7","groupId":"g","stickiness":"random"}}`,
			stored("flexibleRollout", `{"groupId":"g","rollout":"7","stickiness":"random"}`, "[]"),
		},
		{
			`{"name":"remoteAddress","parameters":{"IPs":" 10.0.0.1, 10.0.0.0/8,::1,"}}`,
			stored("remoteAddress", `{"IPs":"10.0.0.1,10.0.0.0/8,::1"}`, "[]"),
		},
		{
			`{"name":"applicationHostname","parameters":{"hostNames":"a, b"}}`,
			stored("applicationHostname", `{"hostNames":"a,b"}`, "[]"),
		},
		{
			`{"name":"flexibleRollout","variants":[{"name":"c"},{"name":"a"},{"name":"b"}]}`,
			stored("flexibleRollout", rollout, variants("a", 334, "b", 333, "c", 333)),
		},
		{
			`{"name":"flexibleRollout","variants":[{"name":"z","weight":1,"weightType":"fix"},{"name":"a"},{"name":"b"}]}`,
			stored("flexibleRollout", rollout, strings.TrimSuffix(variants("a", 500, "b", 499), "]")+
				`,{"name":"z","weight":1,"weightType":"fix","stickiness":"default"}]`),
		},
		{`{"name":"default","title":""}`, stored("default", "{}", "[]")},
		{`{}`, invalid("The `/body/name` property is required; you did not send it.")},
		{
			`{"name":"nosuch"}`,
			invalid("The `/body/name` property must be default, flexibleRollout, remoteAddress or applicationHostname; " +
				`you sent "nosuch".`),
		},
		{
			`{"name":"userWithId"}`,
			invalid("The `/body/name` property must not be userWithId, which is deprecated. Use a constraint on userId."),
		},
		{
			`{"name":"gradualRolloutRandom"}`,
			invalid("The `/body/name` property must not be gradualRolloutRandom, which is deprecated. Use flexibleRollout."),
		},
		{
			`{"name":"default","title":"\u200b"}`,
			invalid("The `/body/title` property must have a visible character and no control characters."),
		},
		{
			`{"name":"flexibleRollout","parameters":{"roll":"7"}}`,
			invalid("The `/body/parameters/roll` property is unknown to the strategy flexibleRollout; " +
				"the closest one is `rollout`."),
		},
		{
			`{"name":"flexibleRollout","parameters":{"rollout":"150"}}`,
			invalid("The `/body/parameters/rollout` property must be a whole number from 0 to 100; you sent \"150\"."),
		},
		{
			`{"name":"flexibleRollout","parameters":{"rollout":7}}`,
			invalid("The `/body/parameters/rollout` property must be a string; you sent 7."),
		},
		{
			`{"name":"flexibleRollout","parameters":{"groupId":"é"}}`,
			invalid("The `/body/parameters/groupId` property must be 1 to 100 ASCII characters, without quotation marks, " +
				`and without a backslash at the end; you sent "é".`),
		},
		{
			`{"name":"flexibleRollout","parameters":{"groupId":"a\"b"}}`,
			invalid("The `/body/parameters/groupId` property must be 1 to 100 ASCII characters, without quotation marks, " +
				`and without a backslash at the end; you sent "a\"b".`),
		},
		{
			`{"name":"remoteAddress"}`,
			invalid("The `/body/parameters/IPs` property is required by the strategy remoteAddress; you did not send it."),
		},
		{
			`{"name":"remoteAddress","parameters":{"IPs":"10.0.0.1,x"}}`,
			invalid("The `/body/parameters/IPs` property has the entry \"x\", which must be an IP address or a CIDR " +
				"block such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32."),
		},
		{
			`{"name":"remoteAddress","parameters":{"IPs":"fe80::1%eth0"}}`,
			invalid("The `/body/parameters/IPs` property has the entry \"fe80::1%eth0\", which must be an IP address or a CIDR " +
				"block such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32."),
		},
		{
			`{"name":"applicationHostname","parameters":{"hostNames":" , "}}`,
			invalid("The `/body/parameters/hostNames` property must have at least one entry; commas separate entries; " +
				`you sent " , ".`),
		},
		{
			`{"name":"applicationHostname","parameters":{"hostNames":"web-1,web-2\\"}}`,
			invalid("The `/body/parameters/hostNames` property has the entry \"web-2\\\\\", which must not end with a " +
				"backslash: SDKs would turn the toggle off."),
		},
		{
			`{"name":"applicationHostname","parameters":{"hostNames":"eyJhbGciOiJI.eyJz\u0000"}}`,
			invalid("The `/body/parameters/hostNames` property must have no control characters except tabs and line breaks; " +
				"you sent \"[redacted]\"."),
		},
		{
			`{"name":"default","variants":[{"name":"a"}]}`,
			invalid("The `/body/variants` property must be empty: only the strategy flexibleRollout has variants."),
		},
		{
			`{"name":"flexibleRollout","variants":[{"name":"a","weightType":"fix","weight":1000}]}`,
			invalid("The `/body/variants` property must have at least one variant with the weightType variable."),
		},
		{
			`{"name":"flexibleRollout","variants":[{"name":"a"},{"name":"a"}]}`,
			invalid("The `/body/variants` property must have different names; you sent \"a\" twice."),
		},
		{
			`{"name":"flexibleRollout","variants":[{"name":"a","stickiness":"userId"}]}`,
			invalid("The `/body/variants/0/stickiness` property must be that of the strategy, \"default\"; you sent \"userId\"."),
		},
		{
			`{"name":"flexibleRollout","variants":[{"name":"a","payload":{"type":"json","value":"{"}}]}`,
			invalid("The `/body/variants/0/payload/value` property must be valid JSON if the type is json."),
		},
		{
			`{"name":"flexibleRollout","variants":[{"name":"a","payload":{"type":"number","value":"x"}}]}`,
			invalid("The `/body/variants/0/payload/value` property must be a number if the type is number; you sent \"x\"."),
		},
		{
			`{"name":"default","segments":[7,0,1e400]}`,
			invalid("The `/body/segments/1` property must be at least 1; you sent 0. " +
				"The `/body/segments/2` property must be at most 2147483647; you sent 1e400."),
		},
		{
			`{"name":"default","segments":[1,2,3,4,5,6]}`,
			invalid("The `/body/segments` property has 6 different elements, and the limit is 5. Combine some."),
		},
		{
			`{"name":"default","constraints":[` + strings.Repeat(`{"contextName":"userId","operator":"IN","values":["7"]},`, 30) +
				`{"contextName":"userId","operator":"IN","values":["7"]}]}`,
			invalid("The `/body/constraints` property has 31 elements, and the limit is 30. Move some into a segment."),
		},
		{
			`{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":[` + strings.Repeat(`"7",`, 250) + `"7"]}]}`,
			invalid("The `/body/constraints/0/values` property has 251 elements, and the limit is 250. " +
				"Use a segment, which can have more."),
		},
	} {
		got := a.Call(t.Context(), "add strategy", "default/f/prod", test.body)
		id := ""
		if added := a.Toggle(t, "f").Environments["prod"].Strategies; len(added) > 0 {
			id = added[0].ID
			a.ExpectStatus(t.Context(), t, "delete strategy", "default/f/prod/"+id, "", 200)
		}
		if id != "" {
			got = strings.Replace(got, `"`+id+`"`, `"ID"`, 1)
		}
		assert.Equal(t, test.want, got)
	}
}

// An update keeps what is omitted. A change of the type or of the stickiness takes the rest along.
func TestUpdateStrategy(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	strategy := func(rest string) string {
		return `200 {"id":"s1","name":"flexibleRollout","title":"half","disabled":false,"sortOrder":3,"constraints":[],` + rest
	}
	const variant = `{"name":"v","weight":1000,"weightType":"variable","stickiness":"userId"}`
	toggles.Expect(t.Context(), t, a.Set, []toggles.Call{
		{
			"add strategy", "default/f/dev", `{"name":"flexibleRollout","title":"half","sortOrder":3,` +
				`"parameters":{"rollout":"50","groupId":"g"},"variants":[{"name":"v"}]}`,
			strategy(`"parameters":{"groupId":"g","rollout":"50","stickiness":"default"},` +
				`"variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default"}],"segments":[]}`),
		},
		{
			"update strategy", "default/f/dev/s1", `{"parameters":{"stickiness":"userId"}}`,
			strategy(`"parameters":{"groupId":"f","rollout":"100","stickiness":"userId"},"variants":[` + variant + `],"segments":[]}`),
		},
		{
			"update strategy", "default/f/dev/s1", `{}`,
			strategy(`"parameters":{"groupId":"f","rollout":"100","stickiness":"userId"},"variants":[` + variant + `],"segments":[]}`),
		},
		{
			"update strategy", "default/f/dev/s1", `{"name":"default","title":null,"variants":[]}`,
			`200 {"id":"s1","name":"default","title":null,"disabled":false,"sortOrder":3,"constraints":[],"parameters":{},` +
				`"variants":[],"segments":[]}`,
		},
	})
	assert.Equal(t, "feature-strategy-add dev, feature-strategy-update dev, feature-strategy-update dev", a.Recorded(t))
	a.With("If-Match", `"x"`).Expect(t.Context(), t, "update strategy", "default/f/dev/s1", `{"title":"x"}`, toggles.Changed)
}

// What an import has stored beyond the limits of the API can be kept, and a long list shortened, but not made longer.
func TestUpdateImportedStrategy(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	values := func(n int) []string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint(i))
		}
		return all
	}
	imported := []toggle.Strategy{
		{
			ID: "long", Name: "flexibleRollout",
			Constraints: []toggle.Constraint{{ContextName: "userId", Operator: "IN", Values: values(600)}},
			Parameters:  map[string]string{"rollout": "50", "stickiness": "default", "groupId": ` "größe\\`},
		},
		{ID: "old", Name: "userWithId", Parameters: map[string]string{"userIds": "1,2"}},
	}
	_, err := a.Store.Update(t.Context(), "f", func(f toggle.Feature) (toggle.Feature, error) {
		f.SetEnvironment("dev", toggle.Environment{Strategies: imported})
		return f, nil
	})
	assert.OK(t, err)
	constraints := func(field string, n int) string {
		text, err := json.Marshal([]toggle.Constraint{{ContextName: field, Operator: "IN", Values: values(n)}})
		assert.OK(t, err)
		return `"constraints":` + string(text)
	}
	group := func(text string) string {
		return `"parameters":{"rollout":"60","stickiness":"default","groupId":` + strconv.Quote(text) + `}`
	}
	update := func(id, body string, status int) {
		t.Helper()
		a.ExpectStatus(t.Context(), t, "update strategy", "default/f/dev/"+id, `{`+body+`}`, status)
	}
	update("long", group(` "größe\\`)+","+constraints("userId", 600), 200)
	update("long", constraints("userId", 601), 400)
	update("long", constraints("sessionId", 251), 400)
	update("long", group("größe"), 400)
	update("long", constraints("userId", 599), 200)
	update("long", constraints("userId", 600), 400)
	update("long", group("g"), 200)
	update("long", group(` "größe\\`), 400)
	update("old", `"name":"userWithId","parameters":{"userIds":"1,2"},"title":"old"`, 200)
	update("old", `"parameters":{"userIds":" 1 ,,2, 3"}`, 200)
	got := a.Toggle(t, "f").Environments["dev"].Strategies
	assert.Equal(t, []any{599, "g", "1,2,3"},
		[]any{len(got[0].Constraints[0].Values), got[0].Parameters["groupId"], got[1].Parameters["userIds"]})
}

// Variants are sorted by name, but those of an import keep their order when the strategy is changed, because it decides who
// gets which.
func TestOrderOfVariants(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	_, err := a.Store.Update(t.Context(), "f", func(f toggle.Feature) (toggle.Feature, error) {
		var strategies []toggle.Strategy
		for id, names := range map[string][2]string{"imported": {"red", "blue"}, "sorted": {"b", "d"}} {
			strategies = append(strategies, toggle.Strategy{
				ID: id, Name: "flexibleRollout", Parameters: map[string]string{"rollout": "100", "stickiness": "default", "groupId": "f"},
				Variants: []toggle.Variant{
					{Name: names[0], Weight: 500, WeightType: toggle.WeightVariable, Stickiness: "default"},
					{Name: names[1], Weight: 500, WeightType: toggle.WeightVariable, Stickiness: "default"},
				},
			})
		}
		f.SetEnvironment("dev", toggle.Environment{Strategies: strategies})
		return f, nil
	})
	assert.OK(t, err)
	update := func(id, variants, want string) {
		t.Helper()
		a.ExpectStatus(t.Context(), t, "update strategy", "default/f/dev/"+id, `{"variants":`+variants+`}`, 200)
		e := a.Toggle(t, "f").Environments["dev"]
		var names []string
		for _, v := range e.Strategies[e.Strategy(id)].Variants {
			names = append(names, v.Name)
		}
		assert.Equal(t, want, strings.Join(names, " "))
	}
	update("imported", `[{"name":"blue"},{"name":"red"}]`, "red blue")
	update("imported", `[{"name":"new"},{"name":"blue"},{"name":"also"},{"name":"red"}]`, "red blue also new")
	update("imported", `[{"name":"blue"}]`, "blue")
	update("sorted", `[{"name":"c"},{"name":"d"},{"name":"b"}]`, "b c d")
}

// A strategy without a sort order gets the highest one plus 1, at most the highest number that a sort order can be.
func TestNextSortOrder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ highest, want int32 }{
		{math.MinInt32, math.MinInt32 + 1},
		{-1, 0},
		{0, 1},
		{math.MaxInt32, math.MaxInt32},
	} {
		a := toggles.NewActive(t)
		a.Create(t, `{}`)
		highest := fmt.Sprintf(`{"name":"default","sortOrder":%d}`, test.highest)
		a.ExpectStatus(t.Context(), t, "add strategy", "default/f/dev", highest, 200)
		a.ExpectStatus(t.Context(), t, "add strategy", "default/f/dev", `{"name":"default"}`, 200)
		assert.Equal(t, test.want, a.Toggle(t, "f").Environments["dev"].Strategies[1].SortOrder)
	}
}

// At most 30 strategies are in an environment.
func TestLimitOfStrategies(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.Create(t, `{}`)
	const full = "400 ValidationError: Failed to create strategy. You can't create more than the established limit of 30. " +
		"Delete a strategy first."
	for range 30 {
		a.ExpectStatus(t.Context(), t, "add strategy", "default/f/dev", `{"name":"default","disabled":true}`, 200)
	}
	a.Expect(t.Context(), t, "add strategy", "default/f/dev", `{"name":"default"}`, full)
	a.Expect(t.Context(), t, "on", "default/f/dev", "", full)
}

// The types of strategies are listed with what they need. Those that cannot be created are deprecated.
func TestListStrategyTypes(t *testing.T) {
	t.Parallel()
	set := operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{"types": featurestrategy.ListTypes()}}
	status, _, text := set.Serve(t.Context(), operation.Request{Operation: "types"})
	assert.Equal(t, 200, status)
	var body struct {
		Version    int
		Strategies []struct {
			Name       string
			Deprecated bool
			Parameters []struct {
				Name, Type string
				Required   bool
			}
		}
	}
	assert.OK(t, json.Unmarshal([]byte(text), &body))
	var lines []string
	for _, s := range body.Strategies {
		line := s.Name
		if s.Deprecated {
			line += " (deprecated)"
		}
		for _, p := range s.Parameters {
			line += " " + p.Name + ":" + p.Type
			if p.Required {
				line += "!"
			}
		}
		lines = append(lines, line)
	}
	assert.Equal(t, 1, body.Version)
	assert.Equal(t, []string{
		"flexibleRollout rollout:percentage stickiness:string groupId:string",
		"default",
		"remoteAddress IPs:list!",
		"applicationHostname hostNames:list!",
		"userWithId (deprecated) userIds:list!",
		"gradualRolloutUserId (deprecated) percentage:percentage! groupId:string",
		"gradualRolloutSessionId (deprecated) percentage:percentage! groupId:string",
		"gradualRolloutRandom (deprecated) percentage:percentage! groupId:string",
	}, lines)
}
