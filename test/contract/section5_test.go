package contract_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/feature"
)

const day = 24 * time.Hour

// wantStale waits until exactly these toggles of some types are potentially stale.
func (s *service) wantStale(t *testing.T, want string, types ...string) {
	t.Helper()
	eventually(t, "the potentially stale toggles are: "+want, func() bool {
		all, err := feature.NewStore(s.db, s.tables, s.events).List(t.Context())
		must(t, err)
		var stale []string
		for i := range all {
			if all[i].PotentiallyStale && slices.Contains(types, all[i].Type) {
				stale = append(stale, strings.TrimSuffix(all[i].Name, all[i].Type))
			}
		}
		slices.Sort(stale)
		return strings.Join(stale, " ") == want
	})
}

func TestSection5ChangeOfLifetime(t *testing.T) {
	t.Parallel()
	s := shared
	admin, kind := s.admin(t), s.featureType(t)
	features := feature.NewStore(s.db, s.tables, s.events)
	for _, f := range []feature.Feature{
		{Name: "year ", CreatedAt: time.Now().Add(-365 * day)},
		{Name: "40 ", CreatedAt: time.Now().Add(-40 * day)},
		{Name: "almost40 ", CreatedAt: time.Now().Add(-40*day + time.Hour)},
		{Name: "archived ", CreatedAt: time.Now().Add(-365 * day), Archived: true},
		{Name: "marked ", CreatedAt: time.Now().Add(-365 * day), Stale: true},
		{Name: "unknown-type ", CreatedAt: time.Now().Add(-365 * day), Type: "unknown-" + kind},
	} {
		if f.Type == "" {
			f.Type = kind
		}
		f.Name, f.Project = f.Name+f.Type, "default"
		must(t, features.Create(t.Context(), f))
	}
	for _, step := range []struct{ days, want string }{
		{"40", "40  year "}, {"1", "40  almost40  year "}, {"100", "year "}, {"0", ""}, {"40", "40  year "},
		{"2147483647", ""}, {"365", "year "}, {"null", ""},
	} {
		s.send(t, putLifetime(kind, step.days).as(admin)).want(t, 200)
		s.wantStale(t, step.want, kind, "unknown-"+kind)
	}
}
