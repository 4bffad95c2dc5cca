package stores_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/feature"
)

// toggle is a toggle that changes are tried on.
func toggle(name string, fields ...string) feature.Feature {
	_, created := instant()
	return feature.Feature{Name: name, Project: "default", Type: "release", CreatedAt: created, ContextFields: fields}
}

func fields(tb testing.TB, g *ground, names ...string) {
	tb.Helper()
	for _, name := range names {
		check(tb, g.ContextFields.Create(tb.Context(), contextfield.ContextField{Name: name}))
	}
}

// update changes the toggle f.
func update(tb testing.TB, g *ground, change func(*feature.Feature)) feature.Feature {
	tb.Helper()
	f, err := g.Features.Update(tb.Context(), "f", func(f feature.Feature) feature.Feature {
		change(&f)
		return f
	})
	check(tb, err)
	return f
}

func features() []property {
	fine, stored := instant()
	all := []property{
		{"it is read back as it was given: time to the millisecond, fields sorted, each once, not flagged", func(t *testing.T, g *ground) {
			fields(t, g, "a", "b")
			f := feature.Feature{
				Name: "é#1", Project: "p", Type: "t", CreatedAt: fine, Stale: true, PotentiallyStale: true, ContextFields: []string{"b", "a", "b"},
			}
			check(t, g.Features.Create(t.Context(), f))
			f.CreatedAt, f.PotentiallyStale, f.ContextFields = stored, false, []string{"a", "b"}
			got, err := g.Features.Get(t.Context(), f.Name)
			check(t, err)
			if diff := cmp.Diff(f, got); diff != "" {
				t.Error(diff)
			}
		}},
		{"a name is taken once; what is there stays", func(t *testing.T, g *ground) {
			check(t, g.Features.Create(t.Context(), toggle("f")))
			other := toggle("f")
			other.Project = "other"
			if err := g.Features.Create(t.Context(), other); !errors.Is(err, feature.ErrExists) {
				t.Error(err)
			}
			check(t, g.Features.Create(t.Context(), toggle("F")))
			got, err := g.Features.Get(t.Context(), "f")
			check(t, err)
			if got.Project != "default" {
				t.Error(got)
			}
		}},
		{"an unknown name is not found, and not made", func(t *testing.T, g *ground) {
			_, err := g.Features.Update(t.Context(), "f", func(f feature.Feature) feature.Feature { return f })
			if !errors.Is(err, feature.ErrNotFound) {
				t.Error(err)
			}
			if _, err := g.Features.Get(t.Context(), "f"); !errors.Is(err, feature.ErrNotFound) {
				t.Error(err)
			}
		}},
		{"name, time of creation and flag are not an update's to change", func(t *testing.T, g *ground) {
			check(t, g.Features.Create(t.Context(), toggle("f")))
			got := update(t, g, func(f *feature.Feature) {
				f.Name, f.CreatedAt, f.PotentiallyStale, f.Project = "g", later(), true, "p"
			})
			want := toggle("f")
			want.Project = "p"
			stored, err := g.Features.Get(t.Context(), "f")
			check(t, err)
			for _, f := range []feature.Feature{got, stored} {
				if diff := cmp.Diff(want, f, cmpopts.EquateEmpty()); diff != "" {
					t.Error(diff)
				}
			}
		}},
		{"updates at once lose nothing", func(t *testing.T, g *ground) {
			var names []string
			for i := range clients {
				names = append(names, fmt.Sprintf("field%02d", i))
			}
			fields(t, g, names...)
			check(t, g.Features.Create(t.Context(), toggle("f")))
			atOnce(clients, func(i int) {
				_, err := g.Features.Update(t.Context(), "f", func(f feature.Feature) feature.Feature {
					f.ContextFields = append(f.ContextFields, names[i])
					return f
				})
				if err != nil {
					t.Error(err)
				}
			})
			got, err := g.Features.Get(t.Context(), "f")
			check(t, err)
			if diff := cmp.Diff(names, got.ContextFields); diff != "" {
				t.Error(diff)
			}
		}},
	}
	for _, tt := range []struct {
		name   string
		before func(*feature.Feature)
		change func(*feature.Feature)
		keeps  bool
	}{
		{"a change of type clears the flag", nil, func(f *feature.Feature) { f.Type = "operational" }, false},
		{"archiving clears the flag", nil, func(f *feature.Feature) { f.Archived = true }, false},
		{"restoring clears the flag", func(f *feature.Feature) { f.Archived = true }, func(f *feature.Feature) { f.Archived = false }, false},
		{"marking as stale clears the flag", nil, func(f *feature.Feature) { f.Stale = true }, false},
		{"un-marking as stale clears the flag", func(f *feature.Feature) { f.Stale = true }, func(f *feature.Feature) { f.Stale = false }, false},
		{"a move to another project keeps the flag", nil, func(f *feature.Feature) { f.Project = "other" }, true},
		{"other constraints keep the flag", nil, func(f *feature.Feature) { f.ContextFields = []string{"a"} }, true},
		{"no change keeps the flag", nil, func(*feature.Feature) {}, true},
	} {
		all = append(all, property{tt.name, func(t *testing.T, g *ground) {
			fields(t, g, "a")
			f := toggle("f")
			if tt.before != nil {
				tt.before(&f)
			}
			check(t, g.Features.Create(t.Context(), f))
			g.flag(t, f)
			returned := update(t, g, tt.change)
			stored, err := g.Features.Get(t.Context(), "f")
			check(t, err)
			if returned.PotentiallyStale != tt.keeps || stored.PotentiallyStale != tt.keeps {
				t.Errorf("returned %t, stored %t, want %t", returned.PotentiallyStale, stored.PotentiallyStale, tt.keeps)
			}
		}})
	}
	return all
}

// usedBy fails the test unless the fields are used so, projects without a feature left out.
func usedBy(tb testing.TB, g *ground, want map[string]map[string]int64) {
	tb.Helper()
	all, err := g.ContextFields.List(tb.Context())
	check(tb, err)
	got := map[string]map[string]int64{}
	for _, f := range all {
		for project, n := range f.Usage {
			if n != 0 {
				if got[f.Name] == nil {
					got[f.Name] = map[string]int64{}
				}
				got[f.Name][project] = n
			}
		}
		sum := int64(0)
		for _, n := range want[f.Name] {
			sum += n
		}
		if f.UsedInFeatures() != sum || f.UsedInProjects() != int64(len(want[f.Name])) {
			tb.Errorf("%s: used in %d features of %d projects", f.Name, f.UsedInFeatures(), f.UsedInProjects())
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		tb.Error(diff)
	}
}

type uses = map[string]map[string]int64

func featureUsage() []property {
	return []property{
		{"a creation counts, by project; an archived one does not", func(t *testing.T, g *ground) {
			fields(t, g, "a", "b", "c")
			other, archived := toggle("2", "a"), toggle("3", "a", "b")
			other.Project, archived.Archived = "other.#$ project", true
			for _, f := range []feature.Feature{toggle("1", "a", "b", "a"), toggle("4", "b"), toggle("5"), other, archived} {
				check(t, g.Features.Create(t.Context(), f))
			}
			usedBy(t, g, uses{"a": {"default": 1, "other.#$ project": 1}, "b": {"default": 2}})
		}},
		{"archiving stops counting and restoring starts again", func(t *testing.T, g *ground) {
			fields(t, g, "a")
			check(t, g.Features.Create(t.Context(), toggle("f", "a")))
			update(t, g, func(f *feature.Feature) { f.Archived = true })
			usedBy(t, g, nil)
			update(t, g, func(f *feature.Feature) { f.Archived = true })
			usedBy(t, g, nil)
			update(t, g, func(f *feature.Feature) { f.Archived = false })
			usedBy(t, g, uses{"a": {"default": 1}})
		}},
		{"a move to another project takes the count along", func(t *testing.T, g *ground) {
			fields(t, g, "a", "b")
			check(t, g.Features.Create(t.Context(), toggle("f", "a", "b")))
			check(t, g.Features.Create(t.Context(), toggle("g", "a")))
			update(t, g, func(f *feature.Feature) { f.Project = "other" })
			usedBy(t, g, uses{"a": {"default": 1, "other": 1}, "b": {"other": 1}})
		}},
		{"changed constraints count, also with a move in the same write", func(t *testing.T, g *ground) {
			fields(t, g, "a", "b", "c")
			check(t, g.Features.Create(t.Context(), toggle("f", "a", "b")))
			update(t, g, func(f *feature.Feature) { f.ContextFields = []string{"c", "b"} })
			usedBy(t, g, uses{"b": {"default": 1}, "c": {"default": 1}})
			update(t, g, func(f *feature.Feature) { f.ContextFields, f.Project = []string{"a", "c"}, "other" })
			usedBy(t, g, uses{"a": {"other": 1}, "c": {"other": 1}})
			update(t, g, func(f *feature.Feature) { f.ContextFields = nil })
			usedBy(t, g, nil)
		}},
		{"constraints changed while archived count from the restoring on", func(t *testing.T, g *ground) {
			fields(t, g, "a", "b")
			check(t, g.Features.Create(t.Context(), toggle("f", "a")))
			update(t, g, func(f *feature.Feature) { f.Archived, f.ContextFields = true, []string{"b"} })
			usedBy(t, g, nil)
			update(t, g, func(f *feature.Feature) { f.Archived = false })
			usedBy(t, g, uses{"b": {"default": 1}})
		}},
		{"a write that does not touch constraints leaves the count", func(t *testing.T, g *ground) {
			fields(t, g, "a")
			check(t, g.Features.Create(t.Context(), toggle("f", "a")))
			update(t, g, func(f *feature.Feature) { f.Stale, f.Type = true, "operational" })
			usedBy(t, g, uses{"a": {"default": 1}})
		}},
		{"an unknown field is refused and nothing is written", func(t *testing.T, g *ground) {
			fields(t, g, "a")
			if err := g.Features.Create(t.Context(), toggle("f", "a", "nope")); !errors.Is(err, feature.ErrUnknownContextField) {
				t.Error(err)
			}
			if _, err := g.Features.Get(t.Context(), "f"); !errors.Is(err, feature.ErrNotFound) {
				t.Error(err)
			}
			check(t, g.Features.Create(t.Context(), toggle("g", "a")))
			_, err := g.Features.Update(t.Context(), "g", func(f feature.Feature) feature.Feature {
				f.ContextFields, f.Project = []string{"nope"}, "other"
				return f
			})
			if !errors.Is(err, feature.ErrUnknownContextField) {
				t.Error(err)
			}
			got, err := g.Features.Get(t.Context(), "g")
			check(t, err)
			if diff := cmp.Diff(toggle("g", "a"), got); diff != "" {
				t.Error(diff)
			}
			usedBy(t, g, uses{"a": {"default": 1}})
		}},
		{"writes of many toggles at once count each", func(t *testing.T, g *ground) {
			fields(t, g, "a", "b")
			atOnce(clients, func(i int) {
				name := fmt.Sprint(i)
				if err := g.Features.Create(t.Context(), toggle(name, "a")); err != nil {
					t.Error(err)
				}
				for _, archived := range []bool{true, false} {
					_, err := g.Features.Update(t.Context(), name, func(f feature.Feature) feature.Feature {
						f.Archived, f.ContextFields = archived, []string{"a", "b"}
						return f
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
			usedBy(t, g, uses{"a": {"default": clients}, "b": {"default": clients}})
		}},
	}
}
