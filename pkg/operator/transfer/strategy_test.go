package transfer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// on returns a document with the environment production, and a toggle that is on in it and has strategies, which are
// JSON.
func on(t *testing.T, strategies string) transfer.Document {
	t.Helper()
	state := toggle.Environment{Enabled: true}
	assert.OK(t, json.Unmarshal([]byte("["+strategies+"]"), &state.Strategies))
	return transfer.Document{
		ContextFields: []transfer.ContextField{
			{Name: "plan", LegalValues: []transfer.LegalValue{{Value: "gold"}, {Value: "free"}}},
			{Name: "tenant", Stickiness: true},
		},
		Environments: []transfer.Environment{{Name: "production", Type: "production"}},
		Features: []toggle.FeatureJSON{{
			Name:         "t",
			Project:      "default",
			Type:         "release",
			Environments: map[string]toggle.Environment{"production": state},
		}},
	}
}

func texts(remarks []transfer.Remark) []string {
	var all []string
	for _, r := range remarks {
		all = append(all, r.Text)
	}
	return all
}

// Strategies are stored in the form in which every SDK evaluates them as Unleash's SDKs evaluate the original.
func TestStrategies(t *testing.T) {
	t.Parallel()
	for imported, want := range map[string]string{
		`{"name":"default","parameters":{"unknown":"x"},"title":""}`: `{"name":"default","parameters":{},"title":null}`,
		`{"name":"flexibleRollout","parameters":{"rollout":"5"}}`: `{"name":"flexibleRollout",` +
			`"parameters":{"groupId":"t","rollout":"5","stickiness":"default"}}`,
		`{"name":"flexibleRollout","parameters":{"rollout":"5","stickiness":"tenant","groupId":""}}`: `{"name":"flexibleRollout",` +
			`"parameters":{"groupId":"","rollout":"5","stickiness":"tenant"}}`,
		`{"name":"gradualRolloutUserId","parameters":{"percentage":"5"}}`: `{"name":"gradualRolloutUserId",` +
			`"parameters":{"groupId":"","percentage":"5"}}`,
		`{"name":"userWithId","parameters":{"userIds":" 1 , 2,,3 "}}`: `{"name":"userWithId","parameters":{"userIds":"1,2,3"}}`,
		`{"name":"remoteAddress","parameters":{"IPs":"192.0.2.1, ,198.51.100.0/24 "}}`: `{"name":"remoteAddress",` +
			`"parameters":{"IPs":"192.0.2.1,198.51.100.0/24"}}`,
		`{"name":"applicationHostname","parameters":{"hostNames":" a.example.com,"}}`: `{"name":"applicationHostname",` +
			`"parameters":{"hostNames":"a.example.com"}}`,
		`{"name":"flexibleRollout","parameters":{"rollout":"5","groupId":" \"ä\\"}}`: `{"name":"flexibleRollout",` +
			`"parameters":{"groupId":" \"ä\\","rollout":"5","stickiness":"default"}}`,
		`{"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["1","1"],"value":""}]}`: `{` +
			`"name":"default","constraints":[{"contextName":"userId","operator":"IN","values":["1"],"inverted":false,` +
			`"caseInsensitive":false}]}`,
		`{"name":"default","constraints":[{"contextName":"currentTime","operator":"DATE_AFTER","values":[],` +
			`"value":"2026-01-01t00:00:00.5z","inverted":true}]}`: `{"name":"default","constraints":[{` +
			`"contextName":"currentTime","operator":"DATE_AFTER","value":"2026-01-01T00:00:00.500Z","inverted":true,` +
			`"caseInsensitive":false}]}`,
	} {
		s := newStage(t)
		r := s.run(t, on(t, imported), transfer.Options{})
		same(t, []string(nil), append(texts(r.Features.Losses), texts(r.Features.Notes)...))
		stored := s.export(t).Features[0].Environments["production"]
		expected := toggle.Feature{}
		state := toggle.Environment{Enabled: true, Strategies: make([]toggle.Strategy, 1)}
		assert.OK(t, json.Unmarshal([]byte(want), &state.Strategies[0]))
		state.Strategies[0].ID = "new-1"
		expected.SetEnvironment("production", state)
		same(t, expected.Environments["production"], stored)
	}
}

// A strategy that SDKs cannot evaluate is left out, with the reason. A toggle without another enabled strategy is turned
// off.
func TestInexpressibleStrategies(t *testing.T) {
	t.Parallel()
	constraint := func(text string) string { return `{"name":"default","constraints":[` + text + `]}` }
	variants := func(text string) string {
		return `{"name":"flexibleRollout","parameters":{"rollout":"100"},"variants":[` + text + `]}`
	}
	for strategy, want := range map[string]string{
		`{"name":"custom"}`:          `the strategy type "custom" does not exist here`,
		`{"name":"flexibleRollout"}`: `it has no parameter rollout`,
		`{"name":"flexibleRollout","parameters":{"rollout":"150"}}`: `its parameter rollout must be a whole number from 0 to ` +
			`100; it is "150"`,
		`{"name":"flexibleRollout","parameters":{"rollout":"1","stickiness":"plan"}}`: `its stickiness "plan" is no context ` +
			`field with stickiness`,
		`{"name":"default","segments":[7]}`: `it uses the segment 7, which was not imported`,
		`{"name":"remoteAddress"}`:          `its parameter IPs must have at least one entry; commas separate entries; it is ""`,

		constraint(`{"contextName":"gone","operator":"IN","values":["1"]}`): `its constraint names the context field "gone", ` +
			`which does not exist here`,
		constraint(`{"contextName":"plan","operator":"IN","values":["silver"]}`): `its constraint on plan has "silver", which ` +
			`is no legal value of the field`,
		constraint(`{"contextName":"userId","operator":"IN","values":[]}`): `its constraint on userId with IN has 0 values: ` +
			`use 1 to 10000`,
		constraint(`{"contextName":"userId","operator":"IN","values":[""]}`): `its constraint on userId with IN has the value ` +
			`"", which must not be empty`,
		constraint(`{"contextName":"userId","operator":"IN","values":["\\"]}`): `its constraint on userId with IN has the ` +
			`value "\\", which must not end with a backslash: SDKs would turn the toggle off`,
		constraint(`{"contextName":"userId","operator":"NUM_EQ","value":"x"}`): `its constraint on userId with NUM_EQ has ` +
			`the value "x", which must be a number such as 5, -0.5 or 2e3`,
		constraint(`{"contextName":"userId","operator":"OLD"}`): `its constraint on userId with OLD has an unknown operator`,
		constraint(`{"contextName":"userId","operator":"REGEX","value":"a","inverted":true}`): `its constraint on userId with ` +
			`REGEX is inverted`,

		variants(`{"name":"a","weight":100,"weightType":"variable"}`): `its variants have the total weight 100: it must be 1000`,
		variants(`{"name":"a","weight":1000,"weightType":"variable","stickiness":"userId"}`): `its variant a has the ` +
			`stickiness "userId", which is not that of the strategy, "default"`,
		variants(`{"name":"a b","weight":1000,"weightType":"variable"}`): `its variant "a b" has a name that is not valid: ` +
			`use 1 to 100 letters, digits and . _ ~ -, but not . or .. alone`,
		variants(`{"name":"a","weight":1000,"weightType":"variable","payload":{"type":"json","value":"{"}}`): `its variant ` +
			`"a" has a payload that is not JSON`,
		`{"name":"default","variants":[{"name":"a","weight":1000,"weightType":"variable"}]}`: `it has variants, which only ` +
			`flexibleRollout can have`,
	} {
		s := newStage(t)
		r := s.run(t, on(t, strategy), transfer.Options{})
		name, _, _ := strings.Cut(strings.TrimPrefix(strategy, `{"name":"`), `"`)
		same(t, []string{
			"its strategy 1 in production (" + name + ") was not imported: " + want,
			"it was turned off in production, because none of its enabled strategies was imported",
		}, texts(r.Features.Losses))
		same(t, map[string]toggle.Environment(nil), s.export(t).Features[0].Environments)
	}
}

// SDKs evaluate a toggle that is on without an enabled strategy as on for everybody. Here it gets a strategy that says
// so.
func TestOnWithoutStrategy(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := on(t, `{"id":"01A","name":"default","disabled":true,"sortOrder":5}`)
	r := s.run(t, d, transfer.Options{})
	note := "it is on in production without an enabled strategy: one that holds for everybody was added"
	same(t, []string{note}, texts(r.Features.Notes))
	stored := s.export(t).Features[0].Environments["production"].Strategies
	everybody := stored[1]
	same(t, []string{"01A", "new-1"}, []string{stored[0].ID, everybody.ID})
	same(t, map[string]string{"groupId": "t", "rollout": "100", "stickiness": "default"}, everybody.Parameters)
	same(t, 1, s.run(t, d, transfer.Options{}).Features.Unchanged)
}

// The ids of strategies stay, and so does their order. One whose id is missing, not unique or no part of a path gets
// another one, which a repeated import keeps.
func TestStrategyIDs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := on(t, `{"id":"b","name":"default"},{"id":"a","name":"default"},{"id":"a","name":"default"},{"name":"default"},`+
		`{"id":"set-sort-order","name":"default"},{"id":"c/d","name":"default"}`)
	replaced := []string{
		"the id a of a strategy in production was replaced: another strategy has it",
		`the id "set-sort-order" of a strategy in production was replaced: it cannot be used in a path`,
		`the id "c/d" of a strategy in production was replaced: it cannot be used in a path`,
	}
	same(t, replaced, texts(s.run(t, d, transfer.Options{DryRun: true}).Features.Notes))
	same(t, replaced, texts(s.run(t, d, transfer.Options{}).Features.Notes))
	var ids []string
	for _, stored := range s.export(t).Features[0].Environments["production"].Strategies {
		ids = append(ids, stored.ID)
	}
	same(t, []string{"b", "a", "new-5", "new-6", "new-7", "new-8"}, ids)
	same(t, 1, s.run(t, d, transfer.Options{}).Features.Unchanged)
}

// A strategy whose title has no visible character, or control characters, is imported without it.
func TestStrategyTitles(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := on(t, `{"id":"1","name":"default","title":" \u200b"},{"id":"2","name":"default","title":"Beta\ntesters"},`+
		`{"id":"3","name":"default","title":"Beta testers"}`)
	const why = " of a strategy was not imported: it must have a visible character and no control characters"
	omitted := []string{`the title " \u200b"` + why, `the title "Beta\ntesters"` + why}
	same(t, omitted, texts(s.run(t, d, transfer.Options{DryRun: true}).Features.Notes))
	same(t, omitted, texts(s.run(t, d, transfer.Options{}).Features.Notes))
	stored := s.export(t).Features[0].Environments["production"].Strategies
	same(t, []*string{nil, nil, new("Beta testers")}, []*string{stored[0].Title, stored[1].Title, stored[2].Title})
	same(t, 1, s.run(t, d, transfer.Options{}).Features.Unchanged)
}

// Environments that the document does not have keep their states, and a state in an environment that does not exist is
// listed.
func TestOtherEnvironments(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.run(t, on(t, `{"name":"default"}`), transfer.Options{})
	d := on(t, `{"name":"default"}`)
	d.Environments = []transfer.Environment{{Name: "staging", Type: "test"}}
	d.Features[0].Environments = map[string]toggle.Environment{
		"staging": d.Features[0].Environments["production"],
		"gone":    {Enabled: true},
	}
	r := s.run(t, d, transfer.Options{})
	same(t, []string{`its state in the environment "gone" was not imported: the environment does not exist here`},
		texts(r.Features.Losses))
	stored := s.export(t).Features[0].Environments
	same(t, []bool{true, true}, []bool{stored["production"].Enabled, stored["staging"].Enabled})

	d.Features[0].Environments = nil // off in staging
	s.run(t, d, transfer.Options{})
	stored = s.export(t).Features[0].Environments
	same(t, []bool{true, false}, []bool{stored["production"].Enabled, stored["staging"].Enabled})
}

// A toggle that is archived here, and on in the document, is on after one import.
func TestRevived(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := on(t, `{"name":"default"}`)
	d.Features[0].Archived = true
	s.run(t, d, transfer.Options{})
	d.Features[0].Archived = false
	same(t, []transfer.Update{{"t", []string{"archived", "archivedAt"}}}, s.run(t, d, transfer.Options{}).Features.Updated)
	same(t, 1, s.run(t, d, transfer.Options{}).Features.Unchanged)
}

// An environment whose deletion has not ended does not prevent the import of the rest.
func TestPendingDeletion(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := on(t, `{"name":"default"}`)
	s.run(t, transfer.Document{Environments: d.Environments}, transfer.Options{})
	_, err := s.Environments.MarkDeleted(t.Context(), "production", func(environment.Environment) error { return nil })
	assert.OK(t, err)
	r := s.run(t, d, transfer.Options{})
	same(t, []string{"the deletion of this environment has not ended: delete it again first"}, texts(r.Environments.Skipped))
	same(t, []string{"t"}, r.Features.Created)
}

// Environments that cannot be imported are listed.
func TestInvalidEnvironments(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.run(t, transfer.Document{Environments: []transfer.Environment{
		{Name: "production", Type: "production"},
		{Name: "Production", Type: "production"},
		{Name: "a b", Type: "x"},
		{Name: "update", Type: "x"},
		{Name: "no-type"},
		{Name: "order", Type: "x", SortOrder: 1 << 31},
	}}, transfer.Options{})
	same(t, []string{"production"}, r.Environments.Created)
	same(t, []string{
		"the name of the environment production differs in letter case only",
		"its name is not valid: use 1 to 100 letters, digits and . _ ~ -, but not . or .. alone",
		`its name is not valid: must not be "update", which is a path of the API`,
		`its type "" is not valid: use 1 to 100 characters`,
		"its sort order of 2147483648 is not valid",
	}, texts(r.Environments.Skipped))
}

// Segments are identified by their names. The strategies get the ids that the segments have here.
func TestSegments(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	beta := transfer.Segment{ID: 8, Name: "Beta", Constraints: []toggle.Constraint{
		{ContextName: "plan", Operator: toggle.OperatorIn, Values: []string{"gold"}},
	}}
	d := on(t, `{"id":"01A","name":"default","segments":[8]}`)
	d.Segments = []transfer.Segment{beta}
	s.run(t, d, transfer.Options{})
	stored := s.export(t)
	same(t, stored.Segments[0].ID, stored.Features[0].Environments["production"].Strategies[0].Segments[0])

	d.Segments[0].ID = 1000
	d.Features[0].Environments["production"].Strategies[0].Segments = []int64{1000}
	r := s.run(t, d, transfer.Options{})
	same(t, []int{1, 1}, []int{r.Segments.Unchanged, r.Features.Unchanged})

	d.Segments[0].Constraints = []toggle.Constraint{}
	same(t, []transfer.Update{{"Beta", []string{"constraints"}}}, s.run(t, d, transfer.Options{}).Segments.Updated)
	d.Segments[0].Constraints = nil // unknown
	same(t, 1, s.run(t, d, transfer.Options{}).Segments.Unchanged)
}

// Segments that cannot be imported are listed, and so are the strategies that use them.
func TestInvalidSegments(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	empty := []toggle.Constraint{}
	d := on(t, `{"id":"01A","name":"default","segments":[1,6]}`)
	d.Segments = []transfer.Segment{
		{ID: 1, Name: "Beta", Constraints: empty},
		{ID: 2, Name: "beta", Constraints: empty},
		{ID: 3, Constraints: empty},
		{ID: 4, Name: "project", Project: new("a b"), Constraints: empty},
		{ID: 5, Name: "unknown"},
		{ID: 6, Name: "field", Constraints: []toggle.Constraint{{ContextName: "gone", Operator: "IN", Values: []string{"1"}}}},
	}
	want := s.run(t, d, transfer.Options{DryRun: true})
	r := s.run(t, d, transfer.Options{})
	want.DryRun = false
	same(t, want, r)
	same(t, []string{"Beta"}, r.Segments.Created)
	same(t, []string{
		`the name of the segment "Beta" differs in letter case only`,
		"its name is not valid: use 1 to 100 characters, without white space around them",
		`its project "a b" is not valid: use 1 to 100 letters, digits and . _ ~ -, but not . or .. alone`,
		"the file does not have its constraints",
		`its constraint names the context field "gone", which does not exist here`,
	}, texts(r.Segments.Skipped))
	same(t, []string{
		"its strategy 1 in production (default) was not imported: it uses the segment 6, which was not imported",
		"it was turned off in production, because none of its enabled strategies was imported",
	}, texts(r.Features.Losses))
}
