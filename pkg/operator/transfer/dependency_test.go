package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// family returns a document with toggles of the type release, which are on in production and have the variant blue. A
// text is a name, and what the toggle depends on after an arrow, with "off" if the parent must be off, or variants. Toggles
// in upper case are archived, and those that begin with an s belong to the project shop.
func family(toggles ...string) transfer.Document {
	d := transfer.Document{Environments: []transfer.Environment{{Name: "production", Type: "production"}}}
	for _, text := range toggles {
		name, parent, depends := strings.Cut(text, "→")
		t := toggle.FeatureJSON{
			Name: name, Project: "default", Type: "release", Archived: name == strings.ToUpper(name),
			Environments: map[string]toggle.Environment{"production": {Enabled: true, Strategies: []toggle.Strategy{{
				ID: "id-" + name, Name: toggle.StrategyFlexibleRollout,
				Parameters: map[string]string{"rollout": "100", "stickiness": "default", "groupId": name},
				Variants: []toggle.Variant{{
					Name: "blue", Weight: toggle.TotalWeight, WeightType: toggle.WeightVariable, Stickiness: "default",
				}},
			}}}},
		}
		if strings.HasPrefix(name, "s") {
			t.Project = "shop"
		}
		if words := strings.Fields(parent); depends {
			t.Dependency = &toggle.Dependency{Feature: words[0], Enabled: true}
			for _, word := range words[1:] {
				if word == "off" {
					t.Dependency.Enabled = false
				} else {
					t.Dependency.Variants = append(t.Dependency.Variants, word)
				}
			}
		}
		d.Features = append(d.Features, t)
	}
	return d
}

// stored returns the dependencies in an installation, and the toggles that are off in production.
func (s stage) stored(t *testing.T) string {
	t.Helper()
	var all []string
	for _, f := range s.export(t).Features {
		text := ""
		if d := f.Dependency; d != nil {
			text = strings.TrimSpace(fmt.Sprint("→", d.Feature, map[bool]string{false: " off"}[d.Enabled], " ",
				strings.Join(d.Variants, " ")))
		}
		if !f.Environments["production"].Enabled {
			text += " is off"
		}
		if text != "" {
			all = append(all, f.Name+text)
		}
	}
	return strings.Join(all, ", ")
}

// An import makes dependencies as a document has them, whatever they are before. A repeated one changes nothing, and an
// export makes another installation equal.
func TestDependencies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ before, imported, want string }{
		{"", "child→parent, parent", "child→parent"},
		{"", "a→p off, b→p blue, c→p blue green, d→p off blue, p", "a→p off, b→p blue, c→p blue, d→p off"},
		{"child→parent, parent", "child, parent", ""},
		{"child→parent, parent", "parent→child, child", "parent→child"},
		{"child→parent, parent, other", "child→other, parent→other, other", "child→other, parent→other"},
		{"child→parent, parent, other", "child→other", "child→other"},
		{"a→b, b", "a→c, c", "a→c"},
		{"a→p, b→p, p", "b", "a→p"},
	} {
		s := newStage(t)
		parts := func(text string) transfer.Document { return family(strings.Split(text, ", ")...) }
		if row.before != "" {
			s.run(t, parts(row.before), transfer.Options{})
		}
		d := parts(row.imported)
		expected := s.run(t, d, transfer.Options{DryRun: true})
		r := s.run(t, d, transfer.Options{})
		same(t, []string(nil), texts(r.Features.Notes))
		expected.DryRun = false
		same(t, expected, r)
		assert.Equal(t, row.want, s.stored(t))
		same(t, len(d.Features), s.run(t, d, transfer.Options{}).Features.Unchanged)
		other := newStage(t)
		other.run(t, s.export(t), transfer.Options{})
		same(t, s.export(t), other.export(t))
	}
}

// A toggle whose dependency is not possible is turned off, because SDKs evaluate it as off, and the report says so.
func TestImpossibleDependencies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ imported, want, note string }{
		{"child→gone", "child is off", "the toggle does not exist here"},
		{"child→child", "child is off", "a toggle cannot depend on itself"},
		{"child→shop, shop", "child is off", `the toggle belongs to the project "shop"`},
		{"child→OLD, OLD", "child is off", "the toggle is archived"},
		{"a→b, b→c, c", "a is off, b→c", `the toggle depends on the toggle "c"`},
		{"child→parent green, parent", "child is off", "the toggle has none of the variants"},
	} {
		s := newStage(t)
		d := family(strings.Split(row.imported, ", ")...)
		r := s.run(t, d, transfer.Options{})
		_, parent, _ := strings.Cut(strings.Split(row.imported, ", ")[0], "→")
		same(t, []string{fmt.Sprintf("its dependency on the toggle %q was not imported: %s. It was turned off in production",
			strings.Fields(parent)[0], row.note)}, texts(r.Features.Losses))
		assert.Equal(t, row.want, s.stored(t))
		same(t, len(d.Features), s.run(t, d, transfer.Options{}).Features.Unchanged)
	}
}

// A toggle is moved to another project with its parent, and a parent that loses its children is archived.
func TestParentsThatChange(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.run(t, family("child→parent", "parent", "x→y", "y"), transfer.Options{})
	d := family("parent", "y", "x", "child→parent")
	d.Features[0].Project, d.Features[3].Project = "shop", "shop"
	d.Features[1].Archived = true
	r := s.run(t, d, transfer.Options{})
	same(t, []transfer.Remark(nil), r.Features.Skipped)
	assert.Equal(t, "child→parent", s.stored(t))
	same(t, 4, s.run(t, d, transfer.Options{}).Features.Unchanged)
}

// A toggle is never on without the dependency that it has in the document, also while an import runs.
func TestOnOnlyWithDependency(t *testing.T) {
	t.Parallel()
	for call := 1; call <= 6; call++ {
		s := newStage(t)
		onWithout := false
		other := s.before(t, "TransactWriteItems", call, func() {
			for _, f := range s.export(t).Features {
				onWithout = onWithout || f.Name == "child" && f.Environments["production"].Enabled && f.Dependency == nil
			}
		})
		_, err := other.Import(t.Context(), family("parent", "child→parent"), transfer.Options{Progress: func(string, int, int) {}})
		assert.OK(t, err)
		assert.Equal(t, false, onWithout)
		assert.Equal(t, "child→parent", s.stored(t))
	}
}
