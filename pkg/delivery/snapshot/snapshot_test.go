package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// rollout returns a strategy for a percentage of the users.
func rollout(percentage string, segments ...int64) toggle.Strategy {
	return toggle.Strategy{
		ID:         "01",
		Name:       toggle.StrategyFlexibleRollout,
		Parameters: map[string]string{"rollout": percentage, "stickiness": "default", "groupId": "g"},
		Segments:   segments,
	}
}

// on returns a toggle that is on in production.
func on(project, name string, strategies ...toggle.Strategy) toggle.Feature {
	f := toggle.Feature{Name: name, Project: project, Type: "release"}
	f.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: strategies})
	return f
}

// production returns the document of toggles and segments.
func production(features []toggle.Feature, segments ...toggle.Segment) snapshot.Document {
	return snapshot.Build("production", features, segments)
}

func norway(id int64, name string) toggle.Segment {
	return toggle.Segment{ID: id, Name: name, Constraints: []toggle.Constraint{
		{ContextName: "country", Operator: toggle.OperatorIn, Values: []string{"NO"}},
	}}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := jsonbody.Encode(v)
	assert.OK(t, err)
	return string(text)
}

// A response has the form of Unleash's: sorted toggles, strategies without ids and without disabled ones, no null list,
// and only the segments that a strategy uses.
func TestResponse(t *testing.T) {
	t.Parallel()
	disabled := rollout("100")
	disabled.Disabled = true
	full := on("shop", "b", rollout("25", 7), disabled)
	full.Description, full.ImpressionData, full.Stale = new("<b>"), true, true
	full.Dependency = &toggle.Dependency{Feature: "a", Enabled: true}
	plain := toggle.Feature{Name: "a", Project: "shop", Type: "release"}
	d := production([]toggle.Feature{full, plain}, norway(7, "Norway"), norway(8, "unused"))
	versions := snapshot.Versions{}.Next(snapshot.Document{}, d, 1)
	q := snapshot.Query{Environment: "production"}
	response := func() (text, hash string) {
		s := snapshot.NewSelection(q)
		return encoded(t, s.Response(d, "e", versions)), s.Key()[:8]
	}
	got, hash := response()
	const constraint = `{"contextName":"country","operator":"IN","values":["NO"],"inverted":false,"caseInsensitive":false}`
	const a = `{"name":"a","type":"release","enabled":false,"project":"shop","stale":false,"strategies":[],` +
		`"variants":[],"description":null,"impressionData":false}`
	const b = `{"name":"b","type":"release","enabled":true,"project":"shop","stale":true,"strategies":[` +
		`{"name":"flexibleRollout","constraints":[%],"parameters":{"groupId":"g","rollout":"25","stickiness":"default"},` +
		`"variants":[]%}],"variants":[],"description":"<b>","impressionData":true,` +
		`"dependencies":[{"feature":"a","enabled":true}]}`
	assert.Equal(t, `{"version":2,"features":[`+a+`,`+fill(b, "", `,"segments":[7]`)+`],`+
		`"query":{"environment":"production","inlineSegmentConstraints":false},`+
		`"segments":[{"id":7,"name":"Norway","constraints":[`+constraint+`]}],`+
		`"meta":{"revisionId":1,"etag":"\"`+hash+`:e.1:v1\"","queryHash":"`+hash+`"}}`, got)
	q.InlineSegmentConstraints = true
	got, hash = response()
	assert.Equal(t, `{"version":2,"features":[`+a+`,`+fill(b, constraint, "")+`],`+
		`"query":{"environment":"production","inlineSegmentConstraints":true},`+
		`"meta":{"revisionId":1,"etag":"\"`+hash+`:e.1:v1\"","queryHash":"`+hash+`"}}`, got)
}

// fill replaces each % of a text.
func fill(text string, values ...string) string {
	filled := ""
	for _, c := range text {
		if c != '%' {
			filled += string(c)
			continue
		}
		filled += values[0]
		values = values[1:]
	}
	return filled
}

// A dependency names only variants that the parent has in the environment, because engines disagree about others. A
// toggle is off if the parent has none of them, also if it has no variants at all.
func TestVariantsOfParent(t *testing.T) {
	t.Parallel()
	withVariant := func(name string) toggle.Strategy {
		s := rollout("100")
		s.Variants = []toggle.Variant{{Name: name, Weight: 1000}}
		return s
	}
	blue, red, disabled := withVariant("blue"), withVariant("red"), withVariant("red")
	disabled.Disabled = true
	for name, test := range map[string]struct {
		parent   []toggle.Strategy
		named    []string
		enabled  bool
		variants []string
	}{
		"any":              {[]toggle.Strategy{blue}, nil, true, nil},
		"both":             {[]toggle.Strategy{blue, red}, []string{"blue", "red"}, true, []string{"blue", "red"}},
		"one is disabled":  {[]toggle.Strategy{blue, disabled}, []string{"blue", "red"}, true, []string{"blue"}},
		"another one":      {[]toggle.Strategy{blue}, []string{"red"}, false, []string{"red"}},
		"only a disabled":  {[]toggle.Strategy{rollout("100"), disabled}, []string{"red"}, false, []string{"red"}},
		"none":             {[]toggle.Strategy{rollout("100")}, []string{"blue", "red"}, false, []string{"blue", "red"}},
		"no strategy":      {nil, []string{"blue"}, false, []string{"blue"}},
		"none is demanded": {[]toggle.Strategy{rollout("100")}, []string{}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := on("shop", "child", rollout("100"))
			child.Dependency = &toggle.Dependency{Feature: "parent", Enabled: true, Variants: test.named}
			all := map[string]evaluation.Feature{
				"parent": snapshot.NewFeature(on("shop", "parent", test.parent...), "production"),
				"child":  snapshot.NewFeature(child, "production"),
			}
			for range 2 { // it can be resolved already
				snapshot.Resolve(all)
				want := []toggle.Dependency{{Feature: "parent", Enabled: true, Variants: test.variants}}
				assert.Equal(t, want, all["child"].Dependencies)
				assert.Equal(t, test.enabled, all["child"].Enabled)
			}
		})
	}
}

// A document is read from a snapshot as it was written.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	s := rollout("25", 7)
	s.Constraints = []toggle.Constraint{{ContextName: "n", Operator: toggle.OperatorNumGt, Value: "5"}}
	s.Variants = []toggle.Variant{{Name: "v", Weight: 1000, Payload: &toggle.Payload{Type: "string", Value: "x"}}}
	child := on("shop", "child", rollout("100"))
	child.Dependency = &toggle.Dependency{Feature: "a", Enabled: true, Variants: []string{"v"}}
	a := on("shop", "a", s)
	a.Tags = []toggle.Tag{{Type: "simple", Value: "web"}}
	forms := []evaluation.Feature{snapshot.NewFeature(child.Normalized(), "production"),
		snapshot.NewFeature(a.Normalized(), "production")}
	d := snapshot.NewDocument(forms, map[int64]toggle.Segment{7: snapshot.NewSegment(norway(7, "Norway"))})
	for _, document := range []snapshot.Document{d, snapshot.NewDocument(nil, nil)} {
		versions := snapshot.Versions{}.Next(snapshot.Document{}, document, 3)
		stored, err := snapshot.New("production", "e", 3, versions, document)
		assert.OK(t, err)
		read, err := stored.Document()
		assert.OK(t, err)
		assert.Equal(t, document, read)
		assert.Equal(t, document.Hash(), read.Hash())
	}
}

// The size of inlined segments is known before they are inlined.
func TestInlinedSize(t *testing.T) {
	t.Parallel()
	large := norway(1, "large")
	for i := range 1000 {
		large.Constraints[0].Values = append(large.Constraints[0].Values, fmt.Sprint("value ", i))
	}
	d := production([]toggle.Feature{
		on("shop", "a", rollout("25", 1, 2), rollout("50", 1)), on("shop", "b", rollout("25", 2)), on("shop", "c"),
	}, large, norway(2, "Norway"))
	without := production([]toggle.Feature{
		on("shop", "a", rollout("25"), rollout("50")), on("shop", "b", rollout("25")), on("shop", "c"),
	})
	want := len(encoded(t, d.Inline())) - len(encoded(t, without))
	if got := d.InlinedSize(); got < want || got > want+want/10 {
		t.Errorf("%d bytes, want about %d", got, want)
	}
}

// A project keeps its version unless something changed that its tokens see.
func TestVersions(t *testing.T) {
	t.Parallel()
	a, b := on("shop", "a", rollout("50", 7)), on("billing", "b", rollout("50"))
	before := production([]toggle.Feature{a, b}, norway(7, "Norway"))
	first := snapshot.Versions{}.Next(snapshot.Document{}, before, 1)
	changed := on("shop", "a", rollout("60", 7))
	renamed := before
	renamed.Segments = []toggle.Segment{snapshot.NewSegment(norway(7, "NO"))}
	c := on("billing", "b", rollout("50"))
	c.Tags = []toggle.Tag{{Type: "simple", Value: "web"}}
	tagged := production([]toggle.Feature{a, c}, norway(7, "Norway"))
	one, two, apart := snapshot.Version{1, 1, 0}, snapshot.Version{2, 2, 0}, snapshot.Version{2, 1, 0}
	for name, test := range map[string]struct {
		after         snapshot.Document
		shop, billing snapshot.Version
	}{
		"nothing":               {before, one, one},
		"a toggle":              {production([]toggle.Feature{changed, b}, norway(7, "Norway")), two, one},
		"a tag":                 {tagged, one, snapshot.Version{1, 1, 2}},
		"a segment's name":      {renamed, apart, one},
		"the last of a project": {production([]toggle.Feature{a}, norway(7, "Norway")), one, two},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := first.Next(before, test.after, 2)
			assert.Equal(t, test.shop, next.Of([]string{"shop"}))
			assert.Equal(t, test.billing, next.Of([]string{"billing"}))
			all := snapshot.Version{
				Apart:   max(test.shop.Apart, test.billing.Apart),
				Inlined: max(test.shop.Inlined, test.billing.Inlined),
				Tagged:  max(test.shop.Tagged, test.billing.Tagged),
			}
			assert.Equal(t, all, next.Of(nil))
			assert.Equal(t, all, next.Of([]string{"shop", "billing", "unknown"}))
		})
	}
}

func TestTag(t *testing.T) {
	t.Parallel()
	for _, tag := range []snapshot.Tag{
		{Query: "537b2ba0", Epoch: "1f6e02c9", Version: 43},
		{Query: "q", Epoch: "e", Version: 0, Gzip: true},
	} {
		read, ok := snapshot.ParseTag(tag.String())
		assert.Equal(t, true, ok)
		assert.Equal(t, tag, read)
	}
	assert.Equal(t, "537b2ba0:1f6e02c9.43:v1", snapshot.Tag{Query: "537b2ba0", Epoch: "1f6e02c9", Version: 43}.String())
	for _, text := range []string{"", "537b2ba0:43:v1", "a:b.1:v2", "a:b.1", "a:b.01:v1", "a:b.x:v1", "a:b.1:v1:v1"} {
		_, ok := snapshot.ParseTag(text)
		assert.Equal(t, false, ok)
	}
}

// Engines fail on such toggles, or disagree about them.
func TestCheck(t *testing.T) {
	t.Parallel()
	light := rollout("100")
	light.Variants = []toggle.Variant{{Name: "v", Weight: 999}}
	for want, f := range map[string]toggle.Feature{
		"":                            on("p", "a", rollout("1", 7)),
		"it is on without a strategy": on("p", "a"),
		"a strategy uses the segment 8, which does not exist":     on("p", "a", rollout("1", 7, 8)),
		"the weights of the variants of a strategy add up to 999": on("p", "a", light),
	} {
		err := snapshot.Check(snapshot.NewFeature(f, "production"), map[int64]toggle.Segment{7: {}})
		got := ""
		if err != nil {
			got = err.Error()
		}
		assert.Equal(t, want, got)
	}
}

// A selection decides what a response has, which tag, and whether the body of a snapshot is the response.
func TestSelection(t *testing.T) {
	t.Parallel()
	versions := snapshot.Versions{"shop": {Apart: 5, Inlined: 2, Tagged: 4}, "billing": {Apart: 3, Inlined: 3, Tagged: 6}}
	tagged := on("shop", "b", rollout("1", 7))
	tagged.Tags = []toggle.Tag{{Type: "simple", Value: "web"}, {Type: "team", Value: "a"}}
	d := production([]toggle.Feature{on("shop", "shop.a"), tagged, on("billing", "shop.c")},
		norway(7, "Norway"))
	keys := map[string]bool{}
	for _, test := range []struct {
		query    snapshot.Query
		want     string
		stored   bool
		segments int
		version  int64
	}{
		{snapshot.Query{}, "b shop.a shop.c", true, 1, 5},
		{snapshot.Query{InlineSegmentConstraints: true}, "b shop.a shop.c", false, 1, 3},
		{snapshot.Query{Projects: []string{"billing"}}, "shop.c", false, 0, 3},
		{snapshot.Query{Projects: []string{"billing", "shop"}}, "b shop.a shop.c", false, 1, 5},
		{snapshot.Query{Projects: []string{"other"}}, "", false, 0, 0},
		{snapshot.Query{NamePrefix: "shop."}, "shop.a shop.c", false, 0, 5},
		{snapshot.Query{NamePrefix: "shop.", Projects: []string{"shop"}}, "shop.a", false, 0, 5},
		{snapshot.Query{Tags: []snapshot.TagOf{{"simple", "web"}}}, "b", false, 1, 6},
		{snapshot.Query{Tags: []snapshot.TagOf{{"team", "b"}, {"team", "a"}}, Projects: []string{"shop"}}, "b", false, 1, 5},
		{snapshot.Query{Tags: []snapshot.TagOf{{"simple", "a"}}}, "", false, 0, 6},
	} {
		s := snapshot.NewSelection(test.query)
		selected := s.From(d)
		var names []string
		for _, f := range selected.Features {
			names = append(names, f.Name)
		}
		assert.Equal(t, test.want, strings.Join(names, " "))
		assert.Equal(t, test.segments, len(selected.Segments))
		assert.Equal(t, test.stored, s.IsStored())
		assert.Equal(t, snapshot.Tag{Query: s.Key()[:8], Epoch: "e", Version: test.version}, s.Tag("e", versions))
		assert.Equal(t, false, keys[s.Key()])
		keys[s.Key()] = true
	}
}
