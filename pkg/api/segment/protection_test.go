package segment_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// The constraints of a segment change directly only if no strategy uses the segment in a protected or frozen environment,
// also if the use or the protection begins between the decision and the write.
func TestSegmentInAProtectedEnvironment(t *testing.T) {
	t.Parallel()
	const requests = `Changes in the environment "production" of the project "shop" need a change request.`
	until := time.Now().UTC().Add(time.Hour).Truncate(time.Second)
	freeze := &access.Freeze{Until: until, Reason: "Sale"}
	frozen := `is frozen until ` + until.Format("2006-01-02T15:04:05.000Z") + `: Sale`
	type stage struct {
		fixture
		features     *feature.Store
		projects     *project.Store
		environments *environment.Store
	}
	use := func(s stage, environment string) {
		_, err := s.features.Update(t.Context(), "f", func(f toggle.Feature) (toggle.Feature, error) {
			e := f.Environments[environment]
			e.Strategies = append(e.Strategies, toggle.Strategy{ID: environment, Name: "default", Segments: []int64{1}})
			f.SetEnvironment(environment, e)
			return f, nil
		})
		assert.OK(t, err)
	}
	protect := func(s stage) {
		assert.OK(t, s.projects.SetConfig(t.Context(), "shop", "production", access.Protection{ChangeRequests: true}, project.Always))
	}
	for name, test := range map[string]struct {
		first, then func(stage) // before the update, and before its write
		want        string      // "": it is permitted
	}{
		"not used":              {protect, nil, ""},
		"used":                  {func(s stage) { use(s, "production") }, nil, ""},
		"used elsewhere":        {func(s stage) { use(s, "development"); protect(s) }, nil, ""},
		"used and protected":    {func(s stage) { use(s, "production"); protect(s) }, nil, requests},
		"then protected":        {func(s stage) { use(s, "production") }, protect, requests},
		"then used":             {protect, func(s stage) { use(s, "production") }, requests},
		"then used in one more": {func(s stage) { use(s, "development"); protect(s) }, func(s stage) { use(s, "production") }, requests},
		"frozen": {func(s stage) {
			use(s, "production")
			assert.OK(t, s.projects.SetFreeze(t.Context(), "shop", "production", freeze))
		}, nil, `The environment "production" of the project "shop" ` + frozen},
		"then frozen for all projects": {func(s stage) { use(s, "production") }, func(s stage) {
			assert.OK(t, s.environments.SetFreeze(t.Context(), "production", freeze))
		}, `The environment "production" ` + frozen},
		"archived": {func(s stage) {
			use(s, "production")
			protect(s)
			_, err := s.features.Update(t.Context(), "f", func(f toggle.Feature) (toggle.Feature, error) {
				f.Archived = true
				return f, nil
			})
			assert.OK(t, err)
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			s := stage{f, feature.NewStore(f.Client, f.Tables, f.Log()), project.NewStore(f.Client, f.Tables, f.Log()),
				environment.NewStore(f.Client, f.Tables, f.Log())}
			for _, e := range environment.Defaults() {
				_, err := s.environments.Create(t.Context(), e)
				assert.OK(t, err)
			}
			_, err := f.store.Create(t.Context(), segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: "beta"}}})
			assert.OK(t, err)
			_, err = s.features.Create(t.Context(), toggle.Feature{Name: "f", Project: "shop", CreatedAt: now()})
			assert.OK(t, err)
			test.first(s)
			client := f.Client
			if test.then != nil {
				client = f.Before(t, "TransactWriteItems", 1, func() { test.then(s) })
			}
			ctx := access.WithProjects(access.WithPrincipal(t.Context(), access.UserPrincipal(2, access.RoleEditor)),
				f.ProjectReader())
			err = segment.NewStore(client, f.Tables, f.LogThrough(client)).Update(ctx, 1, func(s *segment.Segment) error {
				s.Constraints = []toggle.Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"7"}}}
				return nil
			})
			got := ""
			if err != nil {
				got = apierror.From(err).Message
			}
			assert.Equal(t, test.want, got)
		})
	}
}
