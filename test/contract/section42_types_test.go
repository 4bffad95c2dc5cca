package contract_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/featuretype"
)

// typeList is what 4.2 answers.
type typeList struct {
	Version int           `json:"version"`
	Types   []featureType `json:"types"`
}

// featureType is what 4.3 answers.
type featureType struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Description  string `json:"description"`
	LifetimeDays *int64 `json:"lifetimeDays"`
}

func (s *service) types(t *testing.T) typeList {
	t.Helper()
	var list typeList
	s.send(t, get(typesPath).as(s.APIToken)).want(t, 200).decode(t, &list)
	return list
}

// TestSection42_Defaults: "Defaults on a new instance: release 40, experiment 40, operational 7, kill-switch null, permission null", in the
// order of creation, as {"version":1,"types":[…]}.
func TestSection42_Defaults(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	list := s.types(t)
	if list.Version != 1 {
		t.Errorf("version %d", list.Version)
	}
	days := func(n int64) *int64 { return &n }
	want := []featureType{
		{"release", "Release", "", days(40)}, {"experiment", "Experiment", "", days(40)}, {"operational", "Operational", "", days(7)},
		{"kill-switch", "Kill switch", "", nil}, {"permission", "Permission", "", nil},
	}
	for i := range list.Types {
		if list.Types[i].Description == "" {
			t.Errorf("%s has no description", list.Types[i].ID)
		}
		list.Types[i].Description = ""
	}
	if diff := cmp.Diff(want, list.Types); diff != "" {
		t.Error(diff)
	}
}

// TestSection42_Order: "in a fixed order: the order of creation (release, experiment, operational, kill-switch, permission, then others)."
// An update does not move a type.
func TestSection42_Order(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	types := featuretype.NewStore(s.db, s.tables())
	for i, id := range []string{"zebra", "ant", "mouse"} {
		must(t, types.Create(patient(t), featuretype.FeatureType{ID: id, Name: id, Description: id, Position: int64(5 + i)}))
	}
	ids := func() (all []string) {
		for _, kind := range s.types(t).Types {
			all = append(all, kind.ID)
		}
		return all
	}
	want := []string{"release", "experiment", "operational", "kill-switch", "permission", "zebra", "ant", "mouse"}
	if diff := cmp.Diff(want, ids()); diff != "" {
		t.Error(diff)
	}
	for _, id := range want {
		s.send(t, putLifetime(id, `{"lifetimeDays":3}`).as(s.APIToken)).want(t, 200)
		if diff := cmp.Diff(want, ids()); diff != "" {
			t.Errorf("after an update of %s: %s", id, diff)
		}
	}
}

// TestSection42_All: all types, more than a page of DynamoDB's; and [] where there is none.
func TestSection42_All(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	for _, kind := range s.types(t).Types {
		s.remove(t, "FeatureTypes", dynamo.Item{"id": dynamo.S(kind.ID)})
	}
	if a := s.send(t, get(typesPath).as(s.APIToken)).want(t, 200); a.body != `{"version":1,"types":[]}` {
		t.Errorf("no type: %s", a.body)
	}
	types := featuretype.NewStore(s.db, s.tables())
	long := strings.Repeat("d", 300_000) // four of these are more than a page
	for i, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		must(t, types.Create(patient(t), featuretype.FeatureType{ID: id, Name: id, Description: long, Position: int64(7 - i)}))
	}
	var got []string
	for _, kind := range s.types(t).Types {
		got = append(got, kind.ID)
		if kind.Description != long {
			t.Errorf("%s: a description of %d characters", kind.ID, len(kind.Description))
		}
	}
	if diff := cmp.Diff([]string{"g", "f", "e", "d", "c", "b", "a"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestSection43_Lifetime: "200 with the feature type. lifetimeDays 0 is stored and answered as null. Below 0 or above 2147483647: 400."
func TestSection43_Lifetime(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	before := int64(12)
	for name, tt := range map[string]struct {
		sent string
		want *int64 // nil: null
		bad  bool
	}{
		"5": {"5", new(int64(5)), false}, "1": {"1", new(int64(1)), false}, "null": {"null", nil, false}, "0 is null": {"0", nil, false},
		"2147483647": {"2147483647", new(int64(2147483647)), false}, "above": {"2147483648", nil, true}, "below": {"-1", nil, true},
		"far above": {"1e30", nil, true}, "far below": {"-9223372036854775809", nil, true}, "above 64 bits": {"18446744073709551621", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := s.featureType(t, &before)
			a := s.send(t, putLifetime(id, `{"lifetimeDays":`+tt.sent+`}`).as(admin))
			stored := s.item(t, "FeatureTypes", dynamo.Item{"id": dynamo.S(id)})
			if tt.bad {
				a.wantError(t, 400)
				if stored.Int("lifetimeDays") != before {
					t.Errorf("stored %v", stored)
				}
				return
			}
			var got featureType
			a.want(t, 200).decode(t, &got)
			if diff := cmp.Diff(featureType{id, "Name of " + id, "Description of " + id, tt.want}, got); diff != "" {
				t.Error(diff)
			}
			if days, there := stored.IntOK("lifetimeDays"); there != (tt.want != nil) || there && days != *tt.want {
				t.Errorf("stored %v", stored)
			}
			for _, kind := range s.types(t).Types {
				if kind.ID == id {
					if diff := cmp.Diff(got, kind); diff != "" {
						t.Errorf("listed otherwise: %s", diff)
					}
				}
			}
			again := s.send(t, putLifetime(id, `{"lifetimeDays":`+tt.sent+`}`).as(admin)).want(t, 200)
			if again.body != a.body {
				t.Errorf("the same value again: %s, then %s", a.body, again.body)
			}
		})
	}
}

// TestSection43_ID: "Unknown type: 404, naming the id. The id is matched without regard to letter case."
func TestSection43_ID(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	id := s.featureType(t, nil)
	for _, spelling := range []string{id, strings.ToUpper(id), strings.ToUpper(id[:3]) + id[3:]} {
		var got featureType
		if s.send(t, putLifetime(spelling, `{"lifetimeDays":2}`).as(admin)).want(t, 200).decode(t, &got); got.ID != id {
			t.Errorf("%s: %+v", spelling, got)
		}
	}
	for sent, named := range map[string]string{
		"bogus": `"bogus"`, "BoGuS": `"BoGuS"`, "a%20b": `"a b"`, "%22": `"\""`, "k%C4%B0ll-switch": `"kİll-switch"`, "%E2%84%AAill-switch": "ill-switch", id + "x": id + "x", id[:9]: id[:9],
		"release%20": `"release "`, "%00": "x00",
	} {
		message := s.send(t, putLifetime(sent, `{"lifetimeDays":2}`).as(admin)).wantError(t, 404).Message
		if !strings.Contains(message, named) {
			t.Errorf("%s: the message %q does not name %s", sent, message, named)
		}
		if s.item(t, "FeatureTypes", dynamo.Item{"id": dynamo.S(sent)}) != nil {
			t.Errorf("%s is created", sent)
		}
	}
}

// TestSection43_SameValueWritesNothingNew: "The same value again: 200, and nothing is re-evaluated needlessly": it is one UpdateItem that
// leaves the item as it is, of which DynamoDB's stream tells nobody; and one read by nobody (the response does not wait).
func TestSection43_SameValueWritesNothingNew(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var calls []string
	f := &faults{}
	s := start(t, options{faults: f})
	key := dynamo.Item{"id": dynamo.S("release")}
	for _, body := range []string{`{"lifetimeDays":40}`, `{"lifetimeDays":40.0}`} {
		before := s.item(t, "FeatureTypes", key)
		f.set(func(operation string, input any) outcome {
			if ofOperation(operation, input) {
				mu.Lock()
				defer mu.Unlock()
				calls = append(calls, operation)
			}
			return succeeds
		})
		s.send(t, putLifetime("release", body).as(s.APIToken)).want(t, 200)
		f.set(nil)
		after := s.item(t, "FeatureTypes", key)
		if before.Int("lifetimeDays") != after.Int("lifetimeDays") || len(before) != len(after) {
			t.Errorf("%v became %v", before, after)
		}
	}
	if diff := cmp.Diff(slices.Repeat([]string{"UpdateItem"}, 2), calls); diff != "" {
		t.Errorf("calls: %s", diff)
	}
}
