package toggle_test

import (
	"maps"
	"testing"
	"time"

	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

func TestStage(t *testing.T) {
	t.Parallel()
	now := *date(t, "2026-11-29T12:00:00Z")
	since := func(age time.Duration, environments ...string) map[string]time.Time {
		times := map[string]time.Time{}
		for _, name := range environments {
			times[name] = now.Add(-age)
		}
		return times
	}
	const week = toggle.CompleteAfter
	asked := since(time.Hour, "development")
	both := since(week, "production", "production-eu")
	one := []string{"production"}
	for _, test := range []struct {
		name       string
		toggle     toggle.Feature
		production []string
		want       toggle.Stage
	}{
		{"nobody has used it", toggle.Feature{}, one, toggle.StageNew},
		{"nobody has used it, and it is on", toggle.Feature{ForAllSince: since(time.Hour, "production")}, one, toggle.StageNew},
		{"asked for anywhere", toggle.Feature{LastSeen: asked}, one, toggle.StageRollingOut},
		{"on for everybody for a week", toggle.Feature{LastSeen: asked, ForAllSince: both}, one, toggle.StageComplete},
		{"on for everybody, not asked for", toggle.Feature{ForAllSince: both}, one, toggle.StageComplete},
		{"a second less than a week", toggle.Feature{LastSeen: asked, ForAllSince: since(week-time.Second, "production")}, one,
			toggle.StageRollingOut},
		{"in the other environments", toggle.Feature{LastSeen: asked, ForAllSince: since(week, "development")}, one,
			toggle.StageRollingOut},
		{"in one of two", toggle.Feature{LastSeen: asked, ForAllSince: since(week, "production")},
			[]string{"production", "production-eu"}, toggle.StageRollingOut},
		{"in both", toggle.Feature{LastSeen: asked, ForAllSince: both}, []string{"production", "production-eu"},
			toggle.StageComplete},
		{"without production", toggle.Feature{LastSeen: asked, ForAllSince: both}, nil, toggle.StageRollingOut},
		{"potentially stale", toggle.Feature{PotentiallyStale: true}, one, toggle.StageOverdue},
		{"potentially stale and complete", toggle.Feature{PotentiallyStale: true, ForAllSince: both}, one, toggle.StageOverdue},
		{"kept", toggle.Feature{PotentiallyStale: true, Keep: &toggle.Keep{Until: *date(t, "2026-11-30T00:00:00Z")}}, one,
			toggle.StageNew},
		{"kept until today", toggle.Feature{PotentiallyStale: true, Keep: &toggle.Keep{Until: *date(t, "2026-11-29T00:00:00Z")}},
			one, toggle.StageOverdue},
		{"marked and kept", toggle.Feature{Stale: true, Keep: &toggle.Keep{Until: *date(t, "2026-11-30T00:00:00Z")}}, one,
			toggle.StageToRemove},
		{"marked", toggle.Feature{Stale: true, ForAllSince: both}, one, toggle.StageToRemove},
		{"archived", toggle.Feature{Archived: true, Stale: true}, one, toggle.StageArchived},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, test.toggle.Stage(test.production, now))
		})
	}
}

func TestIsForAll(t *testing.T) {
	t.Parallel()
	rollout := func(percentage, stickiness string) toggle.Strategy {
		return toggle.Strategy{Name: "flexibleRollout", Parameters: map[string]string{
			"rollout": percentage, "stickiness": stickiness, "groupId": "checkout"}}
	}
	disabled := toggle.Strategy{Name: "default", Disabled: true}
	for _, test := range []struct {
		name       string
		strategies []toggle.Strategy
		want       bool
	}{
		{"the type default", []toggle.Strategy{{Name: "default"}}, true},
		{"100 %", []toggle.Strategy{rollout("100", "default")}, true},
		{"100 %, at random", []toggle.Strategy{rollout("100", "random")}, true},
		{"100 % of old rollouts", []toggle.Strategy{{Name: "gradualRolloutRandom",
			Parameters: map[string]string{"percentage": "100"}}}, true},
		{"one of several", []toggle.Strategy{rollout("25", "default"), {Name: "default"}}, true},
		{"99 %", []toggle.Strategy{rollout("99", "default")}, false},
		{"100 % of those with a user id", []toggle.Strategy{rollout("100", "userId")}, false},
		{"a constraint", []toggle.Strategy{{Name: "default", Constraints: []toggle.Constraint{{}}}}, false},
		{"a segment", []toggle.Strategy{{Name: "default", Segments: []int64{1}}}, false},
		{"disabled", []toggle.Strategy{disabled}, false},
		{"IP addresses", []toggle.Strategy{{Name: "remoteAddress"}}, false},
		{"no strategy", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, toggle.Environment{Enabled: true, Strategies: test.strategies}.IsForAll())
		})
	}
	assert.Equal(t, false, toggle.Environment{Strategies: []toggle.Strategy{{Name: "default"}}}.IsForAll())
}

// A change that does not affect for whom a toggle is on keeps the time from which it was on for everybody.
func TestTrackStage(t *testing.T) {
	t.Parallel()
	everybody := toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{ID: "1", Name: "default"}}}
	start := *date(t, "2026-11-20T05:39:00Z")
	var f toggle.Feature
	f.SetEnvironment("production", everybody)
	f.TrackStage(toggle.Feature{}, start.Add(123*time.Millisecond))
	assert.Equal(t, map[string]time.Time{"production": start}, f.ForAllSince)

	for _, test := range []struct {
		name   string
		change func(*toggle.Feature)
		want   map[string]time.Time
	}{
		{"a description", func(f *toggle.Feature) { f.Description = new("The new checkout") }, f.ForAllSince},
		{"another environment", func(f *toggle.Feature) { f.SetEnvironment("development", everybody) },
			map[string]time.Time{"production": start, "development": start.Add(time.Hour)}},
		{"switched off", func(f *toggle.Feature) { f.TurnOffEverywhere() }, nil},
		{"a parent", func(f *toggle.Feature) { f.Dependency = &toggle.Dependency{Feature: "parent"} }, nil},
		{"archived", func(f *toggle.Feature) { f.Archived = true }, nil},
	} {
		next := f
		test.change(&next)
		next.TrackStage(f, start.Add(time.Hour))
		if !maps.Equal(test.want, next.ForAllSince) {
			t.Errorf("%s: got %v, want %v", test.name, next.ForAllSince, test.want)
		}
	}
}

// A toggle is stale since it was marked, until the mark is removed.
func TestStaleSince(t *testing.T) {
	t.Parallel()
	start := *date(t, "2026-11-20T05:39:00Z")
	track := func(old toggle.Feature, stale bool, at time.Time) toggle.Feature {
		next := old
		next.Stale = stale
		next.TrackStage(old, at)
		return next
	}
	marked := track(toggle.Feature{}, true, start)
	assert.Equal(t, &start, marked.StaleSince)
	again := track(marked, true, start.Add(time.Hour))
	assert.Equal(t, &start, again.StaleSince)
	unmarked := track(again, false, start.Add(time.Hour))
	assert.Equal(t, (*time.Time)(nil), unmarked.StaleSince)
	assert.Equal(t, start.Add(2*time.Hour), *track(unmarked, true, start.Add(2*time.Hour)).StaleSince)
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	now, created := *date(t, "2026-11-29T12:00:00Z"), date(t, "2026-11-01T12:00:00Z")
	hour, day := now.Add(-time.Hour), now.AddDate(0, 0, -1)
	seen := func(environment string) map[string]time.Time { return map[string]time.Time{environment: day} }
	week := map[string]time.Time{"production": now.Add(-toggle.CompleteAfter)}
	initial := toggle.LifecycleEntry{Stage: toggle.LifecycleInitial, EnteredAt: *created}
	preLive := toggle.LifecycleEntry{Stage: toggle.LifecyclePreLive, EnteredAt: day}
	live := toggle.LifecycleEntry{Stage: toggle.LifecycleLive, EnteredAt: day}
	completed := func(at time.Time) toggle.LifecycleEntry {
		return toggle.LifecycleEntry{Stage: toggle.LifecycleCompleted, EnteredAt: at}
	}
	archived := toggle.LifecycleEntry{Stage: toggle.LifecycleArchived, EnteredAt: *created}
	for _, test := range []struct {
		toggle toggle.Feature
		want   []toggle.LifecycleEntry
	}{
		{toggle.Feature{}, []toggle.LifecycleEntry{initial}},
		{toggle.Feature{FirstSeen: seen("development")}, []toggle.LifecycleEntry{initial, preLive}},
		{toggle.Feature{FirstSeen: seen("production"), PotentiallyStale: true}, []toggle.LifecycleEntry{initial, live}},
		{
			toggle.Feature{FirstSeen: map[string]time.Time{"development": now, "test": day, "production": day}},
			[]toggle.LifecycleEntry{initial, preLive, live},
		},
		{
			toggle.Feature{FirstSeen: seen("production"), ForAllSince: seen("production")},
			[]toggle.LifecycleEntry{initial, live},
		},
		{toggle.Feature{FirstSeen: seen("production"), ForAllSince: week}, []toggle.LifecycleEntry{initial, live, completed(now)}},
		{toggle.Feature{StaleSince: &hour}, []toggle.LifecycleEntry{initial, completed(hour)}},
		{toggle.Feature{StaleSince: &hour, ForAllSince: week}, []toggle.LifecycleEntry{initial, completed(hour)}},
		{
			toggle.Feature{Archived: true, ArchivedAt: created, StaleSince: &hour},
			[]toggle.LifecycleEntry{initial, completed(hour), archived},
		},
	} {
		test.toggle.CreatedAt = *created
		assert.Equal(t, test.want, test.toggle.Lifecycle([]string{"production"}, now))
	}
}
