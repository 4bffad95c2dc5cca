package seed_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/codereference"
	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.config()
	c.History = true
	_, err := seed.Seed(t.Context(), c)
	assert.OK(t, err)

	toggles, err := feature.NewStore(f.Client, f.Tables, f.Log()).List(t.Context())
	assert.OK(t, err)
	states := map[string]string{}
	for _, f := range toggles {
		if f.Description == nil || f.Owner == nil || f.CreatedBy == nil {
			t.Errorf("%s has no description, owner or creator", f.Name)
		}
		states[f.Name] = fmt.Sprintf("archived %t, stale %t", f.Archived, f.Stale)
	}
	assert.Equal(t, map[string]string{
		"dark-mode": "archived false, stale false", "new-checkout": "archived false, stale false",
		"old-banner": "archived true, stale false", "legacy-login": "archived false, stale true",
		"search-ranking": "archived false, stale false", "rate-limit": "archived false, stale false",
		"stop-payments": "archived false, stale false", "beta-access": "archived false, stale false",
		"pay-refunds": "archived false, stale false", "pay-fraud-check": "archived false, stale false",
		"yearly-prices": "archived false, stale false",
	}, states)

	on := map[string][]string{}
	for _, f := range toggles {
		if in := f.EnabledEnvironments(); in != nil {
			on[f.Name] = in
		}
	}
	assert.Equal(t, map[string][]string{
		"new-checkout": {"development", "production"}, "search-ranking": {"production"}, "dark-mode": {"development"},
		"pay-fraud-check": {"production"},
	}, on)
	rollout := toggles[slices.IndexFunc(toggles, func(f toggle.Feature) bool { return f.Name == "new-checkout" })]
	assert.Equal(t, "25", rollout.Environments["production"].Strategies[1].Parameters["rollout"])
	assert.Equal(t, []int64{1}, rollout.Segments())
	beta, err := segment.NewStore(f.Client, f.Tables, f.Log()).Get(t.Context(), 1)
	assert.OK(t, err)
	assert.Equal(t, false, beta.CreatedAt.IsZero())
	var asked usage.Counts
	assert.OK(t, usagetable.WalkTallies(t.Context(), f.Client, f.Tables[usagetable.Table], now().Add(-24*time.Hour),
		func(_ usagetable.Part, tally usage.Tally) { asked = asked.Plus(tally.Features["new-checkout"].Total()) }))
	assert.Equal(t, usage.Counts{Yes: 234, No: 2106, Variants: map[string]int64{"blue": 117, "green": 117}}, asked)

	assert.Equal(t, []toggle.Tag{{Type: "area", Value: "checkout"}}, rollout.Tags)
	reports, err := codereference.NewStore(f.Client, f.Tables, now).All(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 1, len(reports))
	assert.Equal(t, []string{"old-banner"}, slices.Collect(maps.Keys(reports[0].Gone)))
	stars, err := favorite.NewStore(f.Client, f.Tables).Get(
		access.WithPrincipal(t.Context(), access.Principal{UserID: 1}))
	assert.OK(t, err)
	assert.Equal(t, true, stars.Has(favorite.Feature(rollout)))
	requests, err := changerequest.NewStore(f.Client, f.Tables, changerequest.Options{}).List(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 1, len(requests))
	assert.Equal(t, changerequest.InReview, requests[0].State)

	reader := accesstable.NewReader(f.Client, f.Tables)
	projects, err := reader.Projects(t.Context())
	assert.OK(t, err)
	given := map[string]string{}
	for _, p := range projects {
		given[p.ID] = fmt.Sprint(p.Mode, " people ", p.Users, " groups ", p.Groups)
	}
	assert.Equal(t, map[string]string{"default": "open people map[] groups map[]", "shop": "open people map[] groups map[]",
		"payments": "protected people map[2:[Owner]] groups map[1:[Member] 2:[7]]", "pricing": "private people map[6:[Owner]] groups map[]"}, given)

	fields, err := f.fields.List(t.Context())
	assert.OK(t, err)
	values := map[string]int{}
	for _, field := range fields {
		if n := len(field.LegalValues); n > 0 {
			values[field.Name] = n
		}
	}
	assert.Equal(t, map[string]int{"environment": 3, "appName": 3}, values)

	var recorded []eventlog.Event
	assert.OK(t, eventlog.NewReader(f.Log()).All(t.Context(), eventlog.Filter{}, func(e eventlog.Event) error {
		recorded = append(recorded, e)
		return nil
	}))
	assert.OK(t, user.NewNames(f.Client, f.Tables).Fill(t.Context(), recorded))
	byDay := map[int]string{}
	for _, e := range recorded {
		byDay[int(now().Truncate(24*time.Hour).Sub(e.CreatedAt().Truncate(24*time.Hour)).Hours()/24)] = string(e.Type) + " by " + e.By.Name
	}
	for days, want := range map[int]string{
		8: "feature-created by editor", 20: "feature-stale-on by admin",
		30: "feature-archived by editor", 58: "context-field-updated by admin",
	} {
		if byDay[days] != want {
			t.Errorf("%d days ago: %q, want %q; all: %v", days, byDay[days], want, byDay)
		}
	}

	days := map[time.Time]bool{}
	for _, period := range []string{"2026-10", "2026-11"} {
		report, err := traffic.NewStore(f.Client, f.Tables).Report(t.Context(), period)
		assert.OK(t, err)
		for _, usage := range report {
			days[usage.Day] = true
		}
	}
	if len(days) != 31 {
		t.Errorf("traffic of %d days", len(days))
	}
}

// An interrupted history is completed by the next call, and a completed one is not repeated.
func TestInterruptedHistory(t *testing.T) {
	t.Parallel()
	withHistory := func(c seed.Config) seed.Config {
		c.History = true
		return c
	}
	complete := newFixture(t)
	_, err := seed.Seed(t.Context(), withHistory(complete.config()))
	assert.OK(t, err)
	want := len(complete.Events(t))
	for _, n := range []int{5, 20, 34, 45, 52, 58} {
		f := newFixture(t)
		crash(t, f, n, true, func(ctx context.Context, c seed.Config) (seed.Result, error) {
			return seed.Seed(ctx, withHistory(c))
		})
		for range 2 {
			_, err := seed.Seed(t.Context(), withHistory(f.config()))
			assert.OK(t, err)
		}
		if got := len(f.Events(t)); got != want {
			t.Errorf("interrupted at write %d: %d events, want %d", n, got, want)
		}
	}
}
