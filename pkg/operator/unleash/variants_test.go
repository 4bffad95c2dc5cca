package unleash_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/operator/unleash"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// original is a toggle in Unleash, in the form in which SDKs download it.
type original struct {
	strategies, variants string
}

// parse returns the toggle as an import reads it from a file.
func (o original) parse(t *testing.T) (state toggle.Environment, losses []string) {
	t.Helper()
	d, err := unleash.Parse([]byte(`{"features":[{"name":"t"}],"featureStrategies":[` + strings.ReplaceAll(o.strategies,
		`{"name"`, `{"featureName":"t","name"`) + `],
		"featureEnvironments":[{"featureName":"t","environment":"e","enabled":true,"variants":[` + o.variants + `]}]}`))
	assert.OK(t, err)
	return d.Features[0].Environments["e"], d.Losses["t"]
}

// evaluated returns what an SDK says for a context: the variant, or off. What is random depends on a number.
func evaluated(engine *evaluation.Engine, fields map[string]string, random int) string {
	result := engine.Evaluate("t", &evaluation.Context{
		Fields: fields, Random: func(n uint32) uint32 { return uint32(random) % n },
	})
	switch {
	case !result.Enabled:
		return "off"
	case result.Variant == nil:
		return "no variant"
	}
	return fmt.Sprint(result.Variant.Name, result.Variant.Payload)
}

// compare compares the answers of the original for 3,000 users, some without an id, a session or a region, with those of
// what is imported.
func (o original) compare(t *testing.T) {
	t.Helper()
	state, losses := o.parse(t)
	assert.Equal(t, []string(nil), losses)
	before := evaluation.Feature{Name: "t", Enabled: true}
	assert.OK(t, json.Unmarshal([]byte("["+o.strategies+"]"), &before.Strategies))
	assert.OK(t, json.Unmarshal([]byte("["+o.variants+"]"), &before.Variants))
	engine := func(f evaluation.Feature) *evaluation.Engine {
		return evaluation.New(evaluation.Document{Features: []evaluation.Feature{f}})
	}
	there := engine(before)
	imported := toggle.Feature{Name: "t", Environments: map[string]toggle.Environment{"e": state}}
	here := engine(snapshot.NewFeature(imported, "e"))
	answers := map[string]int{}
	for n := range 3000 {
		fields := map[string]string{}
		for i, field := range []string{"userId", "sessionId", "region"} {
			if n%(7+i) != 0 {
				fields[field] = strconv.Itoa(n * (i + 1))
			}
		}
		want := evaluated(there, fields, n)
		answers[want]++
		if got := evaluated(here, fields, n); got != want {
			t.Fatalf("%+v: for %v: want %s, got %s", o, fields, want, got)
		}
	}
	if len(answers) < 2 {
		t.Errorf("%+v: all answers are %v", o, answers)
	}
}

func rolloutOf(percentage int, stickiness, group string) string {
	return fmt.Sprintf(`{"name":"flexibleRollout","parameters":{"rollout":"%d","stickiness":%q,"groupId":%q}}`, percentage,
		stickiness, group)
}

// variantsOf returns variants in an order that is not that of their bytes. Overrides give some users one of them.
func variantsOf(stickiness string, overridden bool) string {
	overrides := [2]string{}
	if overridden {
		overrides = [2]string{
			`{"contextName":"userId","values":["10","11","12"]},{"contextName":"region","values":["33"," 36 ",""]}`,
			`{"contextName":"userId","values":["12","13","14","15"]}`,
		}
	}
	return fmt.Sprintf(`{"name":"blue","weight":300,"weightType":"variable","stickiness":%[1]q,"overrides":[%[2]s]},
		{"name":"Red","weight":500,"weightType":"fix","stickiness":%[1]q,"payload":{"type":"string","value":"r"}},
		{"name":"green","weight":200,"stickiness":%[1]q,"overrides":[%[3]s]}`, stickiness, overrides[0], overrides[1])
}

// The variants of a toggle become variants of its strategies, and each user keeps theirs.
func TestVariantsOfToggles(t *testing.T) {
	t.Parallel()
	constrained := `{"name":"default","constraints":[{"contextName":"region","operator":"STR_ENDS_WITH","values":["3","6"]}]}`
	own := `{"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":"userId","groupId":"g"},"constraints":[
		{"contextName":"userId","operator":"STR_ENDS_WITH","values":["0","1"]}],
		"variants":[{"name":"own","weight":1000,"weightType":"variable","stickiness":"userId"}]}`
	for _, overridden := range []bool{false, true} {
		for _, o := range []original{
			{`{"name":"default"}`, variantsOf("default", overridden)},
			{`{"name":"default"}`, variantsOf("random", overridden)},
			{`{"name":"default"}`, variantsOf("userId", overridden)},
			{`{"name":"default"}`, variantsOf("region", overridden)},
			{"", variantsOf("default", overridden)},
			{`{"name":"default","disabled":true}`, variantsOf("sessionId", overridden)},
			{rolloutOf(50, "default", "t"), variantsOf("default", overridden)},
			{rolloutOf(50, "userId", "t"), variantsOf("userId", overridden)},
			{rolloutOf(50, "userId", "t"), variantsOf("default", overridden)},
			{rolloutOf(50, "region", "t"), variantsOf("region", overridden)},
			{rolloutOf(50, "random", "g"), variantsOf("random", overridden)},
			{rolloutOf(100, "userId", "g"), variantsOf("userId", overridden)},
			{rolloutOf(100, "default", "g"), variantsOf("default", overridden)},
			{rolloutOf(100, "default", "g"), variantsOf("userId", overridden)},
			{rolloutOf(100, "random", "g"), variantsOf("default", overridden)},
			{rolloutOf(0, "sessionId", "g") + "," + constrained, variantsOf("default", overridden)},
			{`{"name":"flexibleRollout","parameters":{"rollout":"30"}}`, variantsOf("default", overridden)},
			{`{"name":"gradualRolloutUserId","parameters":{"percentage":"40","groupId":"t"}}`, variantsOf("userId", overridden)},
			{`{"name":"gradualRolloutSessionId","parameters":{"percentage":"100","groupId":"g"}}`, variantsOf("sessionId", overridden)},
			{`{"name":"gradualRolloutRandom","parameters":{"percentage":"40","groupId":"g"}}`, variantsOf("random", overridden)},
			{`{"name":"userWithId","parameters":{"userIds":"10, 11,17,,18"}}`, variantsOf("userId", overridden)},
			{own + "," + rolloutOf(30, "default", "t") + "," + constrained, variantsOf("default", overridden)},
		} {
			o.compare(t)
		}
	}
}

// Variants of strategies that only another form expresses keep their users too.
func TestVariantsOfStrategies(t *testing.T) {
	t.Parallel()
	for _, o := range []original{
		{`{"name":"default","variants":[` + variantsOf("default", false) + `]}`, ""},
		{`{"name":"gradualRolloutUserId","parameters":{"percentage":"40","groupId":"g"},"variants":[` +
			variantsOf("userId", false) + `]}`, ""},
		{strings.Replace(rolloutOf(50, "userId", "g"), `"}}`, `"},"variants":[`+variantsOf("default", false)+`]}`, 1), ""},
	} {
		o.compare(t)
	}
	state, losses := original{strings.Replace(rolloutOf(50, "userId", "g"), `"}}`,
		`"},"id":"01A","variants":[`+variantsOf("userId", true)+`]}`, 1), ""}.parse(t)
	assert.Equal(t, []string(nil), losses)
	assert.JSON(t, "testdata/overrides.json", state)
}

// A toggle whose variants cannot be kept is off, with the reason, and has the strategies without them.
func TestVariantsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`{"name":"default"},`, 20), ",")
	for o, want := range map[original]string{
		{rolloutOf(50, "default", "g"), variantsOf("default", false)}: `strategy 1 (flexibleRollout): its groupId "g" is not ` +
			`that of the variants, "t"`,
		{rolloutOf(50, "sessionId", "t"), variantsOf("userId", false)}: `strategy 1 (flexibleRollout): its stickiness ` +
			`"sessionId" is not that of the variants, "userId"`,
		{`{"name":"default"},{"name":"remoteAddress","parameters":{"IPs":"192.0.2.1"}},{"name":"custom"}`,
			variantsOf("default", false)}: `strategy 2 (remoteAddress): its type or its parameters permit no variants; ` +
			`strategy 3 (custom): its type or its parameters permit no variants`,
		{many, variantsOf("default", true)}: "they need 80 strategies, the maximum is 30",
	} {
		state, losses := o.parse(t)
		assert.Equal(t, []string{"its variants in e were not imported: " + want, "it was turned off in e"}, losses)
		assert.Equal(t, false, state.Enabled)
		assert.Equal(t, strings.Count(o.strategies, `"name"`), len(state.Strategies))
	}
}

// Random toggles with variants of their own give the same answers, or are off.
func TestRandomVariants(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	one := func(all ...string) string { return all[random.IntN(len(all))] }
	kept := 0
	for range 300 {
		var strategies []string
		for range 1 + random.IntN(3) {
			strategies = append(strategies, one(`{"name":"default"}`,
				rolloutOf([]int{0, 30, 100}[random.IntN(3)], one("default", "userId", "random", "region"), one("t", "g"))))
		}
		o := original{strings.Join(strategies, ","), variantsOf(one("default", "userId", "random", "region"), random.IntN(2) > 0)}
		if state, _ := o.parse(t); state.Enabled && strings.Count(o.strategies, `"rollout":"0"`) < len(strategies) {
			kept++
			o.compare(t)
		}
	}
	if kept < 100 {
		t.Errorf("only %d of 300 toggles were kept", kept)
	}
}
