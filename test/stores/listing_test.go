package stores_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/featuretype"
)

func featureTypes() []property {
	return []property{
		{"an empty table lists nothing", func(t *testing.T, g *ground) {
			all, err := g.FeatureTypes.List(t.Context())
			check(t, err)
			if len(all) != 0 {
				t.Errorf("got %v", all)
			}
		}},
		{"listed by position, then id, whole", func(t *testing.T, g *ground) {
			want := append(featuretype.Defaults(),
				featuretype.FeatureType{ID: "a", Position: 10, LifetimeDays: new(int64(math.MaxInt32))}, featuretype.FeatureType{ID: "b", Position: 10})
			for i := range want {
				check(t, g.FeatureTypes.Create(t.Context(), want[len(want)-1-i]))
			}
			all, err := g.FeatureTypes.List(t.Context())
			check(t, err)
			if diff := cmp.Diff(want, all); diff != "" {
				t.Error(diff)
			}
		}},
		{"listed over more than one page", func(t *testing.T, g *ground) {
			text := strings.Repeat("x", 300_000)
			for i := range 5 {
				check(t, g.FeatureTypes.Create(t.Context(), featuretype.FeatureType{ID: fmt.Sprint(i), Description: text, Position: int64(i)}))
			}
			all, err := g.FeatureTypes.List(t.Context())
			check(t, err)
			for i, f := range all {
				if f.ID != fmt.Sprint(i) || f.Description != text {
					t.Errorf("at %d is %s", i, f.ID)
				}
			}
			if len(all) != 5 {
				t.Errorf("%d types", len(all))
			}
		}},
		{"one is read as it is now; an unknown one is not found", func(t *testing.T, g *ground) {
			want := featuretype.FeatureType{ID: "release", Name: "n", Description: "d", Position: 3, LifetimeDays: new(int64(9))}
			check(t, g.FeatureTypes.Create(t.Context(), want))
			got, err := g.FeatureTypes.Get(t.Context(), "release")
			check(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			_, err = g.FeatureTypes.SetLifetime(t.Context(), "release", nil)
			check(t, err)
			got, err = g.FeatureTypes.Get(t.Context(), "release")
			check(t, err)
			if got.LifetimeDays != nil {
				t.Error(got)
			}
			if _, err := g.FeatureTypes.Get(t.Context(), "x"); !errors.Is(err, featuretype.ErrNotFound) {
				t.Error(err)
			}
		}},
		{"created again it stays as it is", func(t *testing.T, g *ground) {
			check(t, g.FeatureTypes.Create(t.Context(), featuretype.FeatureType{ID: "release", Name: "first"}))
			check(t, g.FeatureTypes.Create(t.Context(), featuretype.FeatureType{ID: "release", Name: "second"}))
			all, err := g.FeatureTypes.List(t.Context())
			check(t, err)
			if len(all) != 1 || all[0].Name != "first" {
				t.Errorf("got %v", all)
			}
		}},
		{"a lifetime is set, set again, and taken away; the rest stays", func(t *testing.T, g *ground) {
			want := featuretype.FeatureType{ID: "release", Name: "Release", Description: "d", LifetimeDays: new(int64(40)), Position: 3}
			check(t, g.FeatureTypes.Create(t.Context(), want))
			for _, days := range []*int64{new(int64(7)), new(int64(7)), nil, nil, new(int64(math.MaxInt32)), new(int64(1))} {
				want.LifetimeDays = days
				got, err := g.FeatureTypes.SetLifetime(t.Context(), "release", days)
				check(t, err)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				all, err := g.FeatureTypes.List(t.Context())
				check(t, err)
				if diff := cmp.Diff([]featuretype.FeatureType{want}, all); diff != "" {
					t.Error(diff)
				}
			}
		}},
		{"an unknown id is not found, and not made", func(t *testing.T, g *ground) {
			for _, id := range []string{"nope", "#$%", "ünï", strings.Repeat("é", 255)} {
				for _, days := range []*int64{nil, new(int64(1))} {
					if _, err := g.FeatureTypes.SetLifetime(t.Context(), id, days); !errors.Is(err, featuretype.ErrNotFound) {
						t.Errorf("%q: %v", id, err)
					}
				}
			}
			all, err := g.FeatureTypes.List(t.Context())
			check(t, err)
			if len(all) != 0 {
				t.Errorf("got %v", all)
			}
		}},
		{"an id is found in the letter case of NormalID alone", func(t *testing.T, g *ground) {
			check(t, g.FeatureTypes.Create(t.Context(), featuretype.FeatureType{ID: "kill-switch"}))
			if _, err := g.FeatureTypes.SetLifetime(t.Context(), "Kill-Switch", nil); !errors.Is(err, featuretype.ErrNotFound) {
				t.Error(err)
			}
			_, err := g.FeatureTypes.SetLifetime(t.Context(), featuretype.NormalID("Kill-SWITCH"), nil)
			check(t, err)
		}},
	}
}

func contextFields() []property {
	fine, stored := instant()
	return []property{
		{"an empty table lists nothing", func(t *testing.T, g *ground) {
			all, err := g.ContextFields.List(t.Context())
			check(t, err)
			if len(all) != 0 {
				t.Errorf("got %v", all)
			}
		}},
		{"listed by sort order, then name by code points", func(t *testing.T, g *ground) {
			want := []string{"last-order-first", "A", "Z", "a", "é", "\U0001F600"}
			for i, name := range slices.Backward(want) {
				check(t, g.ContextFields.Create(t.Context(), contextfield.ContextField{Name: name, SortOrder: int64(min(i, 1))}))
			}
			all, err := g.ContextFields.List(t.Context())
			check(t, err)
			var got []string
			for _, f := range all {
				got = append(got, f.Name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}},
		{"every member is kept, times to the millisecond, and it starts unused", func(t *testing.T, g *ground) {
			full := contextfield.ContextField{
				Name: "full", Description: "d", Stickiness: true, SortOrder: 1, CreatedAt: &fine, Usage: map[string]int64{"p": 3},
				LegalValues: []contextfield.LegalValue{{Value: "z", Description: "with"}, {Value: "a"}},
			}
			bare := contextfield.ContextField{Name: "bare"}
			check(t, g.ContextFields.Create(t.Context(), full))
			check(t, g.ContextFields.Create(t.Context(), bare))
			all, err := g.ContextFields.List(t.Context())
			check(t, err)
			full.CreatedAt, full.Usage = &stored, nil
			if diff := cmp.Diff([]contextfield.ContextField{bare, full}, all, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		}},
		{"created again it stays as it is", func(t *testing.T, g *ground) {
			check(t, g.ContextFields.Create(t.Context(), contextfield.ContextField{Name: "f", Description: "first"}))
			check(t, g.ContextFields.Create(t.Context(), contextfield.ContextField{Name: "f", Description: "second"}))
			all, err := g.ContextFields.List(t.Context())
			check(t, err)
			if len(all) != 1 || all[0].Description != "first" {
				t.Errorf("got %v", all)
			}
		}},
		{"listed over more than one page", func(t *testing.T, g *ground) {
			for i := range 5 {
				check(t, g.ContextFields.Create(t.Context(), contextfield.ContextField{
					Name: fmt.Sprint(i), Description: strings.Repeat("x", 300_000), SortOrder: int64(i),
				}))
			}
			all, err := g.ContextFields.List(t.Context())
			check(t, err)
			if len(all) != 5 || all[4].Name != "4" {
				t.Errorf("%d fields", len(all))
			}
		}},
	}
}
