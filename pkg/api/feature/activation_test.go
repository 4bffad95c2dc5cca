package feature_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
	"toggleadmin/test/operation"
)

// active is a stage with the environments dev and prod, and the operations on the state of toggles in them.
type active struct {
	tables
	operation.Set
}

func newActive(tb testing.TB) active {
	tb.Helper()
	db := newTables(tb)
	for _, name := range []string{"dev", "prod"} {
		_, err := environment.NewStore(db.Client, db.Tables, db.Log()).Create(tb.Context(),
			environment.Environment{Name: name, Type: name + "elopment", Last: true})
		assert.OK(tb, err)
	}
	set := activation(db.store)
	maps.Copy(set.Handlers, db.searches(db.Client).Handlers)
	return active{db, set}
}

// activation returns the operations on the state of toggles, with paths such as project/toggle/environment/strategy.
func activation(store *feature.Store) operation.Set {
	created := 0
	newID := func() string {
		created++
		return fmt.Sprint("s", created)
	}
	set := handlers(store)
	set.Parameters = []string{"projectId", "featureName", "environment", "strategyId"}
	maps.Copy(set.Handlers, map[string]lambdahttp.HandlerFunc{
		"on":              featureswitch.TurnOn(store, newID),
		"off":             featureswitch.TurnOff(store),
		"state":           featureswitch.Get(store.Reader),
		"strategies":      featurestrategy.List(store.Reader),
		"strategy":        featurestrategy.Get(store.Reader),
		"add strategy":    featurestrategy.Create(store, newID),
		"update strategy": featurestrategy.Update(store),
		"delete strategy": featurestrategy.Delete(store),
		"order":           featurestrategy.SetOrder(store),
		"all on":          featureswitch.TurnOnAll(store, newID),
		"all off":         featureswitch.TurnOffAll(store),
	})
	return set
}

// createSegments creates segments without constraints. Their ids rise from 1.
func (a active) createSegments(tb testing.TB, names ...string) {
	tb.Helper()
	for _, name := range names {
		_, err := segment.NewStore(a.Client, a.Tables, a.Log()).Create(tb.Context(),
			segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: name}}})
		assert.OK(tb, err)
	}
}

// recorded returns the types and the environments of the events of the toggle f, without its creation and
// without the flips of its flag.
func (a active) recorded(tb testing.TB) string {
	tb.Helper()
	return a.recordedOf(tb, "f")
}

// recordedOf is recorded for another toggle.
func (a active) recordedOf(tb testing.TB, name string) string {
	tb.Helper()
	var all []string
	about := eventlog.Filter{Subjects: []string{"toggle:" + name}}
	err := eventlog.NewReader(a.Log()).All(tb.Context(), about, func(e eventlog.Event) error {
		switch e.Type {
		case eventlog.FeatureCreated, eventlog.FeaturePotentiallyStaleOn, eventlog.FeaturePotentiallyStaleOff:
		default:
			all = append(all, strings.TrimSpace(fmt.Sprint(e.Type, " ", e.Environment)))
		}
		return nil
	})
	assert.OK(tb, err)
	return strings.Join(all, ", ")
}

// everybody is the strategy that turning a toggle on adds.
func everybody(id string, order int, disabled bool) string {
	return fmt.Sprintf(`{"id":%q,"name":"flexibleRollout","title":null,"disabled":%t,"sortOrder":%d,"constraints":[],`+
		`"parameters":{"groupId":"f","rollout":"100","stickiness":"default"},"variants":[],"segments":[]}`,
		id, disabled, order)
}

// A toggle is on only with an enabled strategy.
func TestSwitch(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	state := func(enabled bool, strategies ...string) string {
		return fmt.Sprintf(`200 {"name":"f","environment":"prod","enabled":%t,"type":"prodelopment","strategies":[%s]}`,
			enabled, strings.Join(strategies, ","))
	}
	expect(t.Context(), t, a.Set, []call{
		{"state", "default/f/prod", "", state(false)},
		{"on", "default/f/prod", "", "200"},
		{"on", "default/f/prod", "not read", "200"},
		{"state", "default/f/prod", "", state(true, everybody("s1", 0, false))},
		{"off", "default/f/prod", "", "200"},
		{"off", "default/f/prod", "", "200"},
		{"on", "default/f/prod", "", "200"},
		{"update strategy", "default/f/prod/s1", `{"disabled":true}`, "200 " + everybody("s1", 0, true)},
		{"state", "default/f/prod", "", state(false, everybody("s1", 0, true))},
		{"on", "default/f/prod", "", "200"},
		{"state", "default/f/prod", "", state(true, everybody("s1", 0, true), everybody("s2", 1, false))},
		{"delete strategy", "default/f/prod/s2", "", "200"},
		{"state", "default/f/prod", "", state(false, everybody("s1", 0, true))},
	})
	assert.Equal(t, "feature-strategy-add prod, feature-environment-enabled prod, "+
		"feature-environment-disabled prod, feature-environment-enabled prod, "+
		"feature-strategy-update prod, feature-environment-disabled prod, "+
		"feature-strategy-add prod, feature-environment-enabled prod, "+
		"feature-environment-disabled prod, feature-strategy-remove prod", a.recorded(t))
}

// A disabled strategy is enabled on request, instead of adding one.
func TestActivateDisabledStrategies(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	on := func(query string) {
		t.Helper()
		status, _, text := a.Serve(t.Context(), operation.Request{Operation: "on", Path: "default/f/dev", Query: query})
		assert.Equal(t, 200, status)
		assert.Equal(t, "", text)
	}
	expect(t.Context(), t, a.Set, []call{
		{"add strategy", "default/f/dev", `{"name":"flexibleRollout","disabled":true}`, "200 " + everybody("s1", 0, true)},
	})
	on("shouldActivateDisabledStrategies=true")
	a.Expect(t.Context(), t, "strategies", "default/f/dev", "", "200 ["+everybody("s1", 0, false)+"]")
	assert.Equal(t, "feature-strategy-add dev, feature-strategy-update dev, feature-environment-enabled dev",
		a.recorded(t))
}

// An archived toggle keeps its switches, and cannot be turned on. A toggle that is revived is off everywhere, or on
// where it was if the request asks for it.
func TestArchivedToggleIsRevived(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	expect(t.Context(), t, a.Set, []call{
		{"on", "default/f/prod", "", "200"},
		{"archive", "default/f", "", "202"},
		{"on", "default/f/dev", "", `409 ConflictError: The toggle "f" is archived. Revive it before you turn it on.`},
	})
	assert.Equal(t, []string{"prod"}, a.get(t, "f").EnabledEnvironments())
	revive := activation(a.store)
	revive.Parameters = []string{"featureName"}
	keep := func(permissions ...access.Permission) (status int, text string) {
		ctx := access.WithPrincipal(t.Context(), access.Principal{Permissions: permissions})
		status, _, text = revive.Serve(ctx, operation.Request{Operation: "revive", Path: "f", Query: "keepEnabled=true"})
		return status, text
	}
	status, text := keep(access.UpdateFeature)
	assert.Equal(t, 403, status)
	assert.Equal(t, `NoAccessError: You need the "UPDATE_FEATURE_ENVIRONMENT" permission to perform this operation.`, text)
	status, _ = keep(access.UpdateFeature, access.UpdateEnvironment)
	assert.Equal(t, 200, status)
	assert.Equal(t, []string{"prod"}, a.get(t, "f").EnabledEnvironments())
	assert.Equal(t, "feature-strategy-add prod, feature-environment-enabled prod, feature-archived, feature-revived",
		a.recorded(t))
	a.Expect(t.Context(), t, "archive", "default/f", "", "202")
	revive.Expect(t.Context(), t, "revive", "f", "", "200")
	revive.Expect(t.Context(), t, "revive", "f", "", "200")
	assert.Equal(t, 0, len(a.get(t, "f").EnabledEnvironments()))
	assert.Equal(t, "feature-strategy-add prod, feature-environment-enabled prod, feature-archived, feature-revived, "+
		"feature-archived, feature-revived, feature-environment-disabled prod", a.recorded(t))
}

// A request can require the state of the toggle in the environment that was read.
func TestStateMustBeAsItWasRead(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	tag := func() string {
		t.Helper()
		_, header, _ := a.Serve(t.Context(), operation.Request{Operation: "state", Path: "default/f/prod"})
		return header.Get("ETag")
	}
	const changed = "412 PreconditionFailed: The resource has changed since you read it. Read it again and repeat the change."
	empty := tag()
	a.With("If-Match", empty).Expect(t.Context(), t, "on", "default/f/prod", "", "200")
	on := tag()
	for _, o := range []string{"on", "off"} {
		a.With("If-Match", empty).Expect(t.Context(), t, o, "default/f/prod", "", changed)
	}
	a.With("If-Match", empty).Expect(t.Context(), t, "order", "default/f/prod", "[]", changed)
	a.With("If-Match", on).Expect(t.Context(), t, "order", "default/f/prod", `[{"id":"s1","sortOrder":5}]`, "200")
	a.With("If-Match", on).Expect(t.Context(), t, "off", "default/f/prod", "", changed)
	a.With("If-Match", tag()).Expect(t.Context(), t, "off", "default/f/prod", "", "200")
	assert.Equal(t, false, a.get(t, "f").Environments["prod"].Enabled)
}

// A strategy that was deleted is restored with its id, if there is none with it.
func TestRestoreStrategy(t *testing.T) {
	t.Parallel()
	const id = "01M8C6835GR4MTXRYAH7NS32PH"
	a := newActive(t)
	a.create(t, `{}`)
	restore := a.With("If-None-Match", "*")
	as := func(permissions ...access.Permission) context.Context {
		return access.WithPrincipal(t.Context(), access.Principal{Permissions: permissions})
	}
	editor := as(access.UpdateStrategy, access.CreateStrategy)
	const body = `{"name":"flexibleRollout","disabled":true,"sortOrder":7}`
	for _, test := range []struct{ path, body, want string }{
		{"default/f/prod/" + id, `{}`, "400 ValidationError: The `/body/name` property is required; you did not send it."},
		{"default/f/prod/x", body,
			"400 ValidationError: The `/params/strategyId` parameter must be the id of a deleted strategy; you sent \"x\"."},
		{"default/f/prod/" + id, body, "200 " + everybody(id, 7, true)},
		{"default/f/prod/" + id, body, "412 PreconditionFailed: The resource exists and matches `If-None-Match`."},
		{"default/f/dev/" + id, body, `409 ConflictError: The strategy "` + id + `" belongs to the environment "prod".`},
	} {
		restore.Expect(editor, t, "update strategy", test.path, test.body, test.want)
	}
	restore.Expect(as(access.UpdateStrategy), t, "update strategy", "default/f/dev/"+id[:25]+"J", body,
		`403 NoAccessError: You need the "CREATE_FEATURE_STRATEGY" permission to perform this operation.`)
	assert.Equal(t, "feature-strategy-add prod", a.recorded(t))
}

// An update that changes the state of an environment and something else records both. The context fields of strategies
// are a part of the strategies.
func TestMixedUpdate(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	strategy := toggle.Strategy{
		ID:          "s1",
		Name:        "default",
		Constraints: []toggle.Constraint{{ContextName: "a", Operator: toggle.OperatorIn, Values: []string{"x"}}},
	}
	const added = "feature-strategy-add dev, feature-environment-enabled dev"
	for _, test := range []struct {
		environment toggle.Environment
		other       func(*toggle.Feature)
		recorded    string
	}{
		{
			environment: toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{strategy}},
			other:       func(*toggle.Feature) {},
			recorded:    added,
		},
		{
			environment: toggle.Environment{},
			other:       func(f *toggle.Feature) { f.ContextFields = []string{"b"} },
			recorded:    "feature-environment-disabled dev, feature-strategy-remove dev, feature-updated",
		},
		{
			environment: toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{strategy}},
			other:       func(f *toggle.Feature) { f.Description = new("both") },
			recorded:    added + ", feature-updated",
		},
		{
			environment: toggle.Environment{Strategies: []toggle.Strategy{strategy}},
			other:       func(f *toggle.Feature) { f.ContextFields = []string{"a"} },
			recorded:    "feature-environment-disabled dev, feature-updated",
		},
		{
			environment: toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{strategy}},
			other:       func(f *toggle.Feature) { f.Stale = true },
			recorded:    "feature-stale-on, feature-environment-enabled dev",
		},
	} {
		before := a.recorded(t)
		_, err := a.store.Update(t.Context(), "f", func(f toggle.Feature) (toggle.Feature, error) {
			test.other(&f)
			f.SetEnvironment("dev", test.environment)
			return f, nil
		})
		assert.OK(t, err)
		after := strings.TrimPrefix(a.recorded(t), before)
		assert.Equal(t, test.recorded, strings.TrimPrefix(after, ", "))
	}
}

// The state of a toggle needs an environment and a toggle of the project.
func TestUnknownState(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	const noEnvironment = `404 NotFoundError: There is no environment with the name "test".`
	const noStrategy = `404 NotFoundError: The toggle "f" has no strategy with the id "x" in the environment "prod".`
	expect(t.Context(), t, a.Set, []call{
		{"state", "default/f/test", "", noEnvironment},
		{"on", "default/f/test", "", noEnvironment},
		{"on", "default/f/%FF", "", `404 NotFoundError: There is no environment with the name "%FF".`},
		{"off", "q/f/prod", "", unknownIn("q", "f")},
		{"strategies", "default/g/prod", "", unknownIn("default", "g")},
		{"add strategy", "default/f/test", `{"name":"default"}`, noEnvironment},
		{"add strategy", "default/f/dev", `{"name":"default"}`, `200 {"id":"s2","name":"default","title":null,` +
			`"disabled":false,"sortOrder":0,"constraints":[],"parameters":{},"variants":[],"segments":[]}`},
		{"strategy", "default/f/prod/s2", "", strings.Replace(noStrategy, `"x"`, `"s2"`, 1)},
		{"strategy", "default/f/prod/x", "", noStrategy},
		{"update strategy", "default/f/prod/x", `{}`, noStrategy},
		{"delete strategy", "default/f/prod/x", "", noStrategy},
	})
}

// The use of context fields and environments is counted with the change, and a field that does not exist is rejected.
func TestStateIsCounted(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	used := func() string {
		t.Helper()
		environments, err := environment.NewStore(a.Client, a.Tables, nil).List(t.Context())
		assert.OK(t, err)
		text := a.usage(t)
		for _, e := range environments {
			text += fmt.Sprintf("; %s: %d", e.Name, e.References.Toggles())
		}
		return text
	}
	const constraint = `{"name":"default","constraints":[{"contextName":"a","operator":"IN","values":["x"]},` +
		`{"contextName":"userId","operator":"IN","values":["7"]}]}`
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", constraint, 200)
	assert.Equal(t, "a/default: 1; dev: 0; prod: 0", used())
	a.ExpectStatus(t.Context(), t, "on", "default/f/prod", "", 200)
	assert.Equal(t, "a/default: 1; dev: 0; prod: 1", used())
	a.ExpectStatus(t.Context(), t, "update strategy", "default/f/prod/s1", strings.Replace(constraint, `"a"`, `"b"`, 1), 200)
	assert.Equal(t, "b/default: 1; dev: 0; prod: 1", used())
	a.Expect(t.Context(), t, "update strategy", "default/f/prod/s1", strings.Replace(constraint, `"a"`, `"x"`, 1),
		"400 ValidationError: The `/body/constraints/0/contextName` property must be the name of a context field; "+
			`you sent "x".`)
	a.ExpectStatus(t.Context(), t, "archive", "default/f", "", 202)
	assert.Equal(t, "; dev: 0; prod: 0", used())
}

// A constraint on a context field with legal values has only those, and a stickiness is a field that has it.
func TestFieldsOfStrategies(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	for _, f := range []contextfield.ContextField{
		{Name: "plan", Stickiness: true, LegalValues: []contextfield.LegalValue{{Value: "basic"}}},
		{Name: "appName", Stickiness: true},
		{Name: "environment"},
	} {
		_, err := contextfield.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(), f)
		assert.OK(t, err)
	}
	add := func(constraint, stickiness string) string {
		return a.Call(t.Context(), "add strategy", "default/f/prod", `{"name":"flexibleRollout","constraints":[`+constraint+
			`],"parameters":{"stickiness":"`+stickiness+`"}}`)[:3]
	}
	assert.Equal(t, "200", add(`{"contextName":"plan","operator":"IN","values":["basic"]}`, "plan"))
	assert.Equal(t, "400", add(`{"contextName":"plan","operator":"NOT_IN","values":["basic","premium"]}`, "plan"))
	assert.Equal(t, "200", add(`{"contextName":"plan","operator":"STR_CONTAINS","values":["premium"]}`, "default"))
	assert.Equal(t, "400", add("", "a"))
	assert.Equal(t, "400", add("", "unknown"))
	assert.Equal(t, "400", add("", ""))
	assert.Equal(t, "400", add("", strings.Repeat("x", 3000)))
	assert.Equal(t, "400", add("", "environment"))
	assert.Equal(t, "400", add("", "remoteAddress"))
	assert.Equal(t, "200", add("", "appName"))
	assert.Equal(t, "200", add("", "sessionId"))
}

// A strategy names segments that exist. An archived toggle holds them, a deleted one does not.
func TestSegmentsOfStrategies(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	created, err := segment.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(),
		segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: "s"}}})
	assert.OK(t, err)
	used := func() string {
		t.Helper()
		name := segmenttable.Name(created.ID)
		found, err := segment.ReferencesTable(a.Client, a.Tables).Read(t.Context(), []string{name})
		assert.OK(t, err)
		return fmt.Sprintf("%d active, %d archived", found[name].Toggles(), found[name].Archived)
	}
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/dev",
		fmt.Sprintf(`{"name":"default","segments":[%d]}`, created.ID), 200)
	assert.Equal(t, "1 active, 0 archived", used())
	a.Expect(t.Context(), t, "add strategy", "default/f/dev", `{"name":"default","segments":[99]}`,
		"400 ValidationError: The `/body/segments` property must have the ids of segments; there is no segment with the id 99.")
	a.ExpectStatus(t.Context(), t, "archive", "default/f", "", 202)
	assert.Equal(t, "0 active, 1 archived", used())
	assert.OK(t, a.store.Delete(t.Context(), "f", nil))
	assert.Equal(t, "0 active, 0 archived", used())
}

// A change that one transaction cannot contain is rejected: here the fields of a strategy, each of which begins or ends
// to be used and must not change, and its segments.
func TestStrategyThatNeedsTooManyActions(t *testing.T) {
	t.Parallel()
	a := newActive(t)
	a.create(t, `{}`)
	strategy := func(kind string) string {
		var constraints []string
		var segments []int64
		for i := range toggle.MaxConstraints {
			name := fmt.Sprint(kind, i)
			_, err := contextfield.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(),
				contextfield.ContextField{Name: name})
			assert.OK(t, err)
			constraints = append(constraints, fmt.Sprintf(`{"contextName":%q,"operator":"IN","values":["x"]}`, name))
		}
		for i := range toggle.MaxStrategySegments {
			created, err := segment.NewStore(a.Client, a.Tables, a.Log()).Create(t.Context(),
				segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: fmt.Sprint(kind, i)}}})
			assert.OK(t, err)
			segments = append(segments, created.ID)
		}
		return fmt.Sprintf(`{"name":"default","constraints":[%s],"segments":%s}`, strings.Join(constraints, ","),
			strings.ReplaceAll(fmt.Sprint(segments), " ", ","))
	}
	a.ExpectStatus(t.Context(), t, "add strategy", "default/f/prod", strategy("old"), 200)
	before := a.get(t, "f")
	a.Expect(t.Context(), t, "update strategy", "default/f/prod/s1", strategy("new"), "400 ValidationError: The change is "+
		"too large for one transaction: it needs 103 actions, and the maximum is 100. Make smaller changes, one after the other.")
	assert.Equal(t, before, a.get(t, "f"))
}
