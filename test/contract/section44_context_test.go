package contract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
)

// contextField is what 4.4 answers, all members always present.
type contextField struct {
	Name           string       `json:"name"`
	Description    *string      `json:"description"`
	Stickiness     bool         `json:"stickiness"`
	SortOrder      int64        `json:"sortOrder"`
	CreatedAt      *string      `json:"createdAt"`
	UsedInFeatures *int64       `json:"usedInFeatures"`
	UsedInProjects *int64       `json:"usedInProjects"`
	LegalValues    []legalValue `json:"legalValues"`
}

type legalValue struct {
	Value       string  `json:"value"`
	Description *string `json:"description"`
}

func (s *service) context(t *testing.T) []contextField {
	t.Helper()
	var fields []contextField
	s.send(t, get(contextPath).as(s.APIToken)).want(t, 200).decode(t, &fields)
	return fields
}

// TestSection44_Defaults: "Defaults on a new instance: environment 0, userId 1, appName 2, currentTime 3, sessionId 4; only sessionId has
// stickiness true." The specification: createdAt is the time of creation.
func TestSection44_Defaults(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 2, 3, 4, 5, 6, 789_999_999, time.UTC)
	s := start(t, options{now: func() time.Time { return now }})
	at := "2031-02-03T04:05:06.789Z"
	var want []contextField
	for i, name := range []string{"environment", "userId", "appName", "currentTime", "sessionId"} {
		want = append(want, contextField{Name: name, Stickiness: name == "sessionId", SortOrder: int64(i), CreatedAt: &at, LegalValues: []legalValue{}})
	}
	got := s.context(t)
	for i := range got {
		if got[i].Description == nil || *got[i].Description == "" {
			t.Errorf("%s has no description", got[i].Name)
		}
		got[i].Description, got[i].UsedInFeatures, got[i].UsedInProjects = nil, nil, nil // of the example toggles
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSection44_OrderAndMembers: "200 with the array, ordered by sortOrder, then name (code points). Every member always present;
// description, createdAt, usedInFeatures and usedInProjects may be null; legalValues is [] when there are none; a legal value's description
// is left out when it has none."
func TestSection44_OrderAndMembers(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	for _, f := range s.context(t) {
		s.remove(t, "ContextFields", dynamo.Item{"name": dynamo.S(f.Name)})
	}
	if a := s.send(t, get(contextPath).as(s.APIToken)).want(t, 200); a.body != "[]" {
		t.Errorf("no field: %s", a.body)
	}
	created := time.Date(2026, 11, 20, 6, 39, 0, 5_000_000, time.FixedZone("", 3600))
	for _, f := range []contextfield.ContextField{
		{Name: "b", SortOrder: 2}, {Name: "Z", SortOrder: 2}, {Name: "ä", SortOrder: 2}, {Name: "😀", SortOrder: 2}, {Name: "\uff5e", SortOrder: 2}, {Name: "a", SortOrder: 2},
		{Name: "10", SortOrder: 2}, {Name: "9", SortOrder: 2}, {Name: "last", SortOrder: 10}, {Name: "first", SortOrder: -1},
		{
			Name: "full", Description: "All of it.", Stickiness: true, SortOrder: 3, CreatedAt: &created,
			LegalValues: []contextfield.LegalValue{{Value: "z", Description: "The first."}, {Value: "a"}, {Value: "a", Description: "Again."}},
		},
	} {
		s.contextField(t, f)
	}
	a := s.send(t, get(contextPath).as(s.APIToken)).want(t, 200)
	var names []string
	for _, f := range s.context(t) {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"first", "10", "9", "Z", "a", "b", "ä", "\uff5e", "😀", "full", "last"}, names); diff != "" {
		t.Errorf("order: %s", diff)
	}
	for _, part := range []string{
		`{"name":"first","description":null,"stickiness":false,"sortOrder":-1,"createdAt":null,"usedInFeatures":0,"usedInProjects":0,"legalValues":[]}`,
		`{"name":"full","description":"All of it.","stickiness":true,"sortOrder":3,"createdAt":"2026-11-20T05:39:00.005Z","usedInFeatures":0,"usedInProjects":0,` +
			`"legalValues":[{"value":"z","description":"The first."},{"value":"a"},{"value":"a","description":"Again."}]}`,
	} {
		if !strings.Contains(a.body, part) {
			t.Errorf("%s lacks %s", a.body, part)
		}
	}
}

// TestSection44_Usage: "usedInFeatures counts features (not archived) with a strategy constraint on the field, usedInProjects their distinct
// projects", after every kind of write of a toggle.
func TestSection44_Usage(t *testing.T) {
	t.Parallel()
	s := shared
	names := []string{"usage-a", "usage-b"}
	for _, name := range names {
		s.contextField(t, contextfield.ContextField{Name: name, SortOrder: 100})
	}
	features := s.features()
	want := func(after string, counts ...int64) { // features and projects of a, then of b
		t.Helper()
		var got []int64
		for _, name := range names {
			for _, f := range s.context(t) {
				if f.Name == name {
					got = append(got, *f.UsedInFeatures, *f.UsedInProjects)
				}
			}
		}
		if diff := cmp.Diff(counts, got); diff != "" {
			t.Errorf("after %s: %s", after, diff)
		}
	}
	create := func(name, project string, archived bool, fields ...string) {
		t.Helper()
		must(t, features.Create(patient(t), feature.Feature{
			Name: "usage-" + name, Project: project, Type: "release", CreatedAt: time.Now(), Archived: archived, ContextFields: fields,
		}))
	}
	update := func(name string, change func(*feature.Feature)) {
		t.Helper()
		_, err := features.Update(patient(t), "usage-"+name, func(f feature.Feature) feature.Feature { change(&f); return f })
		must(t, err)
	}
	want("nothing", 0, 0, 0, 0)
	create("1", "p", false, "usage-a", "usage-a") // two constraints of one toggle are one feature
	want("a toggle", 1, 1, 0, 0)
	create("2", "p", false, "usage-a", "usage-b")
	want("another of the project", 2, 1, 1, 1)
	create("3", "q", false, "usage-a")
	want("one of another project", 3, 2, 1, 1)
	create("4", "r", true, "usage-a")
	want("an archived one", 3, 2, 1, 1)
	create("5", "r", false)
	want("one without constraints", 3, 2, 1, 1)
	update("3", func(f *feature.Feature) { f.Archived = true })
	want("archiving", 2, 1, 1, 1)
	update("3", func(f *feature.Feature) { f.Archived = false })
	want("restoring", 3, 2, 1, 1)
	update("1", func(f *feature.Feature) { f.ContextFields = []string{"usage-b"} })
	want("another constraint", 2, 2, 2, 1)
	update("1", func(f *feature.Feature) { f.Project = "s.x#é" })
	want("another project", 2, 2, 2, 2)
	update("2", func(f *feature.Feature) { f.Stale = true })
	want("marking as stale", 2, 2, 2, 2)
	update("2", func(f *feature.Feature) { f.ContextFields = nil })
	want("no constraint any more", 1, 1, 1, 1)
}
