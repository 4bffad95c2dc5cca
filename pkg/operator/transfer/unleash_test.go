package transfer_test

import (
	"fmt"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// fromUnleash returns a document as package unleash makes it, with a toggle that is on in production.
func fromUnleash(t *testing.T, strategies string) transfer.Document {
	t.Helper()
	d := on(t, strategies)
	d.Kept = true
	return d
}

// edit changes a toggle as a person does.
func (s stage) edit(t *testing.T, name string, change func(*toggle.Feature)) {
	t.Helper()
	_, err := s.Features.Update(t.Context(), name, func(f toggle.Feature) (toggle.Feature, error) {
		change(&f)
		return f, nil
	})
	assert.OK(t, err)
}

// What was changed here since the last import stays as it is, and is listed if the document has another state. With
// Overwrite, it is replaced.
func TestChangedHere(t *testing.T) {
	t.Parallel()
	const strategy = `{"id":"1","name":"default"}`
	off := func(f *toggle.Feature) {
		e := f.Environments["production"]
		e.Enabled = false
		f.SetEnvironment("production", e)
	}
	for name, change := range map[string]func(*toggle.Feature){
		"off": off, "stale": func(f *toggle.Feature) { f.Stale = true },
		"archived": func(f *toggle.Feature) { f.Archived = true },
	} {
		s := newStage(t)
		d := fromUnleash(t, strategy)
		s.run(t, d, transfer.Options{})
		s.edit(t, "t", change)
		stored, events := s.export(t), s.Events(t)
		for _, dryRun := range []bool{true, false} {
			r := s.run(t, d, transfer.Options{DryRun: dryRun})
			same(t, []string{"t"}, r.ChangedHere)
			same(t, transfer.Section{Unchanged: 1}, r.Features)
			assert.Equal(t, false, r.HasLosses())
		}
		same(t, stored, s.export(t))
		same(t, events, s.Events(t))
		r := s.run(t, d, transfer.Options{Overwrite: true})
		if len(r.Features.Updated) != 1 || len(r.ChangedHere) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
		same(t, 1, s.run(t, d, transfer.Options{}).Features.Unchanged)
	}
}

// What was changed in the same way in both is not changed here only: later changes of the document are imported. Neither
// is what Unleash has archived and revived, a toggle whose environment was deleted here, one that was changed in another
// environment, or one that an import interrupted.
func TestNotChangedHere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	_, err := s.Environments.Create(t.Context(), environment.Environment{Name: "own", Type: "test"})
	assert.OK(t, err)
	d := fromUnleash(t, `{"id":"1","name":"default"}`)
	d.Environments = append(d.Environments, transfer.Environment{Name: "staging", Type: "test"})
	d.Features[0].Environments["staging"] = d.Features[0].Environments["production"]
	s.run(t, d, transfer.Options{})

	s.edit(t, "t", func(f *toggle.Feature) { f.Stale = true })
	d.Features[0].Stale = true
	same(t, 1, s.run(t, d, transfer.Options{}).Features.Unchanged)
	s.edit(t, "t", func(f *toggle.Feature) {
		f.SetEnvironment("own", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{ID: "2", Name: "default"}}})
	})
	for _, archived := range []bool{true, false} {
		d.Features[0].Stale, d.Features[0].Archived = false, archived
		r := s.run(t, d, transfer.Options{})
		same(t, []string(nil), r.ChangedHere)
		same(t, 1, len(r.Features.Updated))
	}
	s.edit(t, "t", func(f *toggle.Feature) { f.SetEnvironment("staging", toggle.Environment{}) })
	deletion, err := s.Environments.MarkDeleted(t.Context(), "staging", func(environment.Environment) error { return nil })
	assert.OK(t, err)
	assert.OK(t, s.Environments.Finish(t.Context(), deletion))
	d.Environments, d.Features[0].Description = d.Environments[:1], new("new")
	delete(d.Features[0].Environments, "staging")
	same(t, []transfer.Update{{"t", []string{"description"}}}, s.run(t, d, transfer.Options{}).Features.Updated)
}

// A file with one environment does not forget what an import has written in the others.
func TestChangedInAnotherEnvironment(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := fromUnleash(t, `{"id":"1","name":"default"}`)
	d.Environments = append(d.Environments, transfer.Environment{Name: "staging", Type: "test"})
	d.Features[0].Environments["staging"] = d.Features[0].Environments["production"]
	s.run(t, d, transfer.Options{})
	file := fromUnleash(t, `{"id":"1","name":"default"}`)
	file.Environments = nil
	same(t, 1, s.run(t, file, transfer.Options{}).Features.Unchanged)
	s.edit(t, "t", func(f *toggle.Feature) { f.SetEnvironment("staging", toggle.Environment{}) })
	same(t, []string{"t"}, s.run(t, d, transfer.Options{}).ChangedHere)
}

// A toggle that a person changes while the import runs stays as it is.
func TestChangedHereMeanwhile(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := fromUnleash(t, `{"id":"1","name":"default"}`)
	s.run(t, d, transfer.Options{})
	d.Features[0].Description = new("new")
	other := s.before(t, "TransactWriteItems", 1, func() {
		s.edit(t, "t", func(f *toggle.Feature) { f.Stale = true })
	})
	r, err := other.Import(t.Context(), d, transfer.Options{Progress: func(string, int, int) {}})
	assert.OK(t, err)
	same(t, []string{"t"}, r.ChangedHere)
	same(t, true, s.export(t).Features[0].Stale)
}

// A toggle that was archived only here stays archived, also if no import has written it. A child that was changed here
// keeps its dependency.
func TestArchivedOnlyHere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, name := range []string{"t", "parent", "other"} {
		_, err := s.Features.Create(t.Context(), toggle.Feature{Name: name, Project: "default", Type: "release"})
		assert.OK(t, err)
	}
	s.edit(t, "t", func(f *toggle.Feature) { f.Archived = true })
	d := fromUnleash(t, `{"id":"1","name":"default"}`)
	for _, name := range []string{"parent", "other", "child"} {
		d.Features = append(d.Features, toggle.FeatureJSON{Name: name, Project: "default", Type: "release"})
	}
	d.Features[3].Dependency = &toggle.Dependency{Feature: "parent", Enabled: true}
	r := s.run(t, d, transfer.Options{})
	same(t, []string{"t"}, r.ChangedHere)
	s.edit(t, "child", func(f *toggle.Feature) { f.Dependency = &toggle.Dependency{Feature: "other", Enabled: true} })
	r = s.run(t, d, transfer.Options{})
	same(t, []string{"child", "t"}, r.ChangedHere)
	r = s.run(t, d, transfer.Options{Overwrite: true})
	same(t, []transfer.Update{{"t", []string{"archived", "archivedAt", "environments"}},
		{"child", []string{"dependency"}}}, r.Features.Updated)
	same(t, 4, s.run(t, d, transfer.Options{}).Features.Unchanged)
}

// What only this installation has is listed, if the document is complete.
func TestOnlyHere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, name := range []string{"a", "archived", "other"} {
		_, err := s.Projects.Create(t.Context(), access.NewProject(name, name))
		assert.OK(t, err)
		_, err = s.Features.Create(t.Context(), toggle.Feature{Name: name, Project: name, Type: "release",
			Archived: name == "archived"})
		assert.OK(t, err)
	}
	d := fromUnleash(t, `{"id":"1","name":"default"}`)
	d.Others = []transfer.Other{{"tags of toggles", new(int64(129))}, {"people", nil}}
	same(t, transfer.OnlyHere{}, s.run(t, d, transfer.Options{}).OnlyHere)
	d.Complete = true
	r := s.run(t, d, transfer.Options{})
	same(t, transfer.OnlyHere{
		FeatureTypes: []string{"release"}, ContextFields: []string{"userId"}, Projects: []string{"a", "archived", "other"},
		Features: []string{"a", "other"},
	}, r.OnlyHere)
	same(t, d.Others, r.NotImported)
	assert.Equal(t, false, r.HasLosses())
	d.Features[0].Project = "other" // which Unleash does not list
	same(t, []string{"a", "archived"}, s.run(t, d, transfer.Options{DryRun: true}).OnlyHere.Projects)
	d.Projects = []transfer.Project{{ID: "a", Name: "a", Mode: access.Open, DefaultStickiness: "default"}}
	same(t, transfer.OnlyHere{Features: []string{"a"}}, s.run(t, d, transfer.Options{Project: "a"}).OnlyHere)
}

// Unleash accepts every name of a field: fields that strategies and segments use are created, and marked if they are
// stickiness.
func TestFieldsOfStrategies(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	_, err := s.Fields.Create(t.Context(), contextfield.ContextField{Name: "here"})
	assert.OK(t, err)
	rollout := func(id, stickiness string) string {
		return fmt.Sprintf(`{"id":%q,"name":"flexibleRollout","parameters":{"rollout":"50","stickiness":%q}}`, id, stickiness)
	}
	d := fromUnleash(t, rollout("1", "plan")+","+rollout("2", "here")+","+rollout("3", "missing")+","+
		`{"id":"4","name":"default","constraints":[{"contextName":"used","operator":"IN","values":["1"]}],"segments":[1]},`+
		rollout("5", "not valid")+`,{"id":"6","name":"default","constraints":[`+
		`{"contextName":"plan","operator":"IN","values":["gold"," silver "]}]}`)
	d.Segments = []transfer.Segment{{ID: 1, Name: "S", Constraints: []toggle.Constraint{
		{ContextName: "segment", Operator: toggle.OperatorIn, Values: []string{"1"}},
	}}}
	want := s.run(t, d, transfer.Options{DryRun: true})
	r := s.run(t, d, transfer.Options{})
	want.DryRun = false
	same(t, want, r)
	const marked = "it was marked as a field with stickiness, because strategies use it so"
	const created = "it was created, because strategies or segments use it"
	const added = `the legal value "silver" was added, because strategies or segments use it`
	same(t, []transfer.Remark{{"plan", marked}, {"plan", added}, {"here", marked}, {"missing", created}, {"segment", created},
		{"used", created}}, r.ContextFields.Notes)
	same(t, []string{`its strategy 5 in production (flexibleRollout) was not imported: its stickiness "not valid" is no ` +
		`context field with stickiness`}, texts(r.Features.Losses))
	sticky := map[string]bool{}
	for _, f := range s.export(t).ContextFields {
		sticky[f.Name] = f.Stickiness
	}
	same(t, map[string]bool{"plan": true, "here": true, "missing": true, "segment": false, "used": false, "tenant": true,
		"userId": false}, sticky)
	d.Complete = true
	again := s.run(t, d, transfer.Options{})
	same(t, []string{"userId"}, again.OnlyHere.ContextFields)
	same(t, 0, len(again.ContextFields.Updated)+len(again.ContextFields.Created)+len(again.ContextFields.Notes))
}

// Lists that are too long for the API are stored as they are, of strategies and of segments.
func TestLongLists(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var values []string
	for n := range toggle.MaxImportedValues {
		values = append(values, fmt.Sprint("user-", n))
	}
	list := toggle.Constraint{ContextName: "userId", Operator: toggle.OperatorIn, Values: values}
	d := fromUnleash(t, `{"id":"1","name":"default","segments":[1]}`)
	d.Features[0].Environments["production"].Strategies[0].Constraints = []toggle.Constraint{list}
	d.Segments = []transfer.Segment{{ID: 1, Name: "S", Constraints: []toggle.Constraint{list}}}
	r := s.run(t, d, transfer.Options{})
	assert.Equal(t, false, r.HasLosses())
	stored := s.export(t)
	same(t, []toggle.Constraint{list}, stored.Features[0].Environments["production"].Strategies[0].Constraints)
	same(t, []toggle.Constraint{list}, stored.Segments[0].Constraints)
}

// Long lists become segments if the toggle would be too large with them. Another import finds the same segments.
func TestListsBecomeSegments(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var values []string
	for n := range toggle.MaxImportedValues {
		values = append(values, fmt.Sprint("user-number-", n))
	}
	list := toggle.Constraint{ContextName: "userId", Operator: toggle.OperatorIn, Values: values}
	short := toggle.Constraint{ContextName: "plan", Operator: toggle.OperatorIn, Values: []string{"gold"}}
	d := fromUnleash(t, `{"id":"1","name":"default"}`)
	for n := range 3 {
		name := fmt.Sprint("environment-", n)
		d.Environments = append(d.Environments, transfer.Environment{Name: name, Type: "test"})
		d.Features[0].Environments[name] = toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{
			ID: name, Name: "default", Constraints: []toggle.Constraint{list, short},
		}}}
	}
	want := s.run(t, d, transfer.Options{DryRun: true})
	r := s.run(t, d, transfer.Options{})
	want.DryRun = false
	same(t, want, r)
	same(t, []string(nil), append(texts(r.Features.Losses), texts(r.Features.Skipped)...))
	same(t, []string{"long lists of its strategies became segments (1), because it would be too large with them"},
		texts(r.Features.Notes))
	stored := s.export(t)
	same(t, "List 1 of t", stored.Segments[0].Name)
	same(t, []toggle.Constraint{list}, stored.Segments[0].Constraints)
	for n := range 3 {
		strategy := stored.Features[0].Environments[fmt.Sprint("environment-", n)].Strategies[0]
		same(t, []toggle.Constraint{short}, strategy.Constraints)
		same(t, []int64{stored.Segments[0].ID}, strategy.Segments)
	}
	d.Complete = true
	again := s.run(t, d, transfer.Options{})
	same(t, []int{1, 1}, []int{again.Segments.Unchanged, again.Features.Unchanged})
	same(t, []string(nil), again.OnlyHere.Segments)
}

// A child that is on while its parent is off would be on for more users if its parent loses a strategy: it is turned off.
func TestParentLacksStrategy(t *testing.T) {
	t.Parallel()
	for parent, loss := range map[string]string{
		`{"id":"1","name":"custom"}`:                                       "off",
		`{"id":"1","name":"custom"},{"id":"2","name":"default"}`:           "off",
		`{"id":"1","name":"custom","disabled":true}`:                       "on",
		`{"id":"1","name":"flexibleRollout","parameters":{"rollout":"5"}}`: "on",
	} {
		s := newStage(t)
		d := fromUnleash(t, parent)
		d.Features[0].Name = "parent"
		child := fromUnleash(t, `{"id":"3","name":"default"}`).Features[0]
		child.Name, child.Dependency = "child", &toggle.Dependency{Feature: "parent"}
		d.Features = append([]toggle.FeatureJSON{child}, d.Features...)
		r := s.run(t, d, transfer.Options{})
		state := s.export(t).Features[0]
		same(t, &toggle.Dependency{Feature: "parent"}, state.Dependency)
		same(t, loss == "on", state.Environments["production"].Enabled)
		var about []string
		for _, l := range r.Features.Losses {
			if l.Name == "child" {
				about = append(about, l.Text)
			}
		}
		if loss == "off" {
			same(t, []string{`its parent "parent" must be off, and is on for fewer users here: it was turned off in production`},
				about)
		} else {
			same(t, []string(nil), about)
		}
	}
	s := newStage(t)
	d := fromUnleash(t, `{"id":"1","name":"default"}`)
	d.TurnedOff = map[string][]string{"t": {"production"}}
	child := fromUnleash(t, `{"id":"3","name":"default"}`).Features[0]
	child.Name, child.Dependency = "child", &toggle.Dependency{Feature: "t"}
	d.Features = append(d.Features, child)
	same(t, 1, len(s.run(t, d, transfer.Options{}).Features.Losses))
}

// A project has the environments, the pattern of names and the links of Unleash, as far as they are possible here. What
// does not fit it is named: the state of a toggle in an environment that its project does not have, and old names.
func TestProjectSettings(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := fromUnleash(t, `{"id":"1","name":"default"}`)
	d.Environments = append(d.Environments, transfer.Environment{Name: "staging", Type: "test"})
	d.Unlisted = []transfer.Environment{{Name: "qa", Type: "test"}}
	shop := transfer.Project{
		ID: "shop", Name: "Shop", Mode: access.Open, DefaultStickiness: "default", Environments: []string{"staging", "qa", "old"},
		FeatureNaming: &transfer.Naming{Pattern: "shop-[a-z]+", Example: "shop-cart"},
		LinkTemplates: []transfer.Link{{URLTemplate: "https://example.com"}, {URLTemplate: "wiki"}},
	}
	web := transfer.Project{ID: "web", Name: "Web", Mode: access.Open, DefaultStickiness: "default",
		FeatureNaming: &transfer.Naming{Pattern: "(?=web).+"}}
	d.Projects = []transfer.Project{shop, web}
	d.Features[0].Project = "shop"
	d.Features = append(d.Features, toggle.FeatureJSON{Name: "shop-cart", Project: "shop", Type: "release"})
	r := s.run(t, d, transfer.Options{CreateEnvironments: true})
	same(t, []transfer.Remark{{"t",
		`its state in the environment "production" was not imported: its project does not have the environment here`}},
		r.Features.Losses)
	same(t, []string{
		`its environment "old" was left out: it does not exist here`,
		`its link "wiki" was left out: each link must be an http or https URL of at most 1000 characters, with a title of at ` +
			`most 100`,
		`its pattern of names "(?=web).+" was left out: the pattern of names must be a regular expression (RE2) of at most ` +
			`255 characters`,
		"1 of its new toggles do not match its pattern of names, which holds for toggles that people create or move: t",
	}, texts(r.Projects.Notes))
	stored := s.export(t).Projects[1]
	same(t, []string{"staging", "qa"}, stored.Environments)
	same(t, shop.FeatureNaming, stored.FeatureNaming)
	same(t, shop.LinkTemplates[:1], stored.LinkTemplates)

	d.Projects[0].Environments, d.Projects[0].FeatureNaming = []string{"staging"}, nil
	r = s.run(t, d, transfer.Options{})
	same(t, []transfer.Update{{"shop", []string{"featureNaming"}}}, r.Projects.Updated)
	same(t, "its environments stay as they are here", r.Projects.Notes[1].Text)
	d.Projects[0] = transfer.Project{ID: "shop", Name: "Shop", Mode: access.Open, DefaultStickiness: "default", Partial: true}
	same(t, []transfer.Update(nil), s.run(t, d, transfer.Options{}).Projects.Updated)
}
