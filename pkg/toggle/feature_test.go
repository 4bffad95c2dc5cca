package toggle_test

import (
	"reflect"
	"testing"

	"toggleadmin/pkg/toggle"
)

func TestNormalized(t *testing.T) {
	t.Parallel()
	f := toggle.Feature{
		CreatedAt:     *date(t, "2026-11-20T07:39:00.123999999+02:00"),
		Archived:      true,
		ArchivedAt:    date(t, "2026-11-20T05:39:00.9999Z"),
		ContextFields: []string{"userId", "country", "userId"},
	}
	want := toggle.Feature{
		CreatedAt:     *date(t, "2026-11-20T05:39:00.123Z"),
		Archived:      true,
		ArchivedAt:    date(t, "2026-11-20T05:39:00.999Z"),
		ContextFields: []string{"country", "userId"},
	}
	if got := f.Normalized(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	f.Archived = false
	if got := f.Normalized(); got.ArchivedAt != nil {
		t.Errorf("a toggle that is not archived was archived at %v", got.ArchivedAt)
	}
}

// The fields that the constraints of strategies name are in use, whatever else the toggle uses.
func TestNormalizedAddsTheFieldsOfStrategies(t *testing.T) {
	t.Parallel()
	f := toggle.Feature{
		ContextFields: []string{"region"},
		Environments: map[string]toggle.Environment{"production": {Strategies: []toggle.Strategy{{
			Constraints: []toggle.Constraint{{ContextName: "plan"}, {ContextName: toggle.FieldUserID}},
		}}}},
	}
	if got := f.Normalized().ContextFields; !reflect.DeepEqual(got, []string{"plan", "region"}) {
		t.Errorf("got %q", got)
	}
}

func TestDiffers(t *testing.T) {
	t.Parallel()
	stored := toggle.Feature{
		Name:          "checkout",
		Description:   new("The new checkout"),
		CreatedAt:     *date(t, "2026-11-20T05:39:00.123Z"),
		ContextFields: []string{"country", "userId"},
	}
	for _, test := range []struct {
		name   string
		change func(*toggle.Feature)
		want   bool
	}{
		{"nothing", func(*toggle.Feature) {}, false},
		{"an equal description", func(f *toggle.Feature) { f.Description = new(*f.Description) }, false},
		{"no description", func(f *toggle.Feature) { f.Description = nil }, true},
		{"a fraction of a millisecond", func(f *toggle.Feature) { f.CreatedAt = f.CreatedAt.Add(1) }, false},
		{"another order", func(f *toggle.Feature) { f.ContextFields = []string{"userId", "country"} }, false},
		{"another context field", func(f *toggle.Feature) { f.ContextFields = []string{"userId"} }, true},
		{"what the stores set", func(f *toggle.Feature) { f.PotentiallyStale, f.LastEvent = true, 7 }, false},
	} {
		next := stored
		test.change(&next)
		if got := stored.Differs(next); got != test.want {
			t.Errorf("%s: differs is %t", test.name, got)
		}
	}
}

func TestUsedContextFields(t *testing.T) {
	t.Parallel()
	f := toggle.Feature{ContextFields: []string{"userId"}}
	if got := f.UsedContextFields(); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	f.Archived = true
	if got := f.UsedContextFields(); len(got) != 0 {
		t.Errorf("archived: got %v", got)
	}
}
