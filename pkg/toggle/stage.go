package toggle

import (
	"slices"
	"time"
)

// Stage is how far a toggle is on the way from its creation to its removal. A toggle has one of them.
type Stage string

// The stages, from the first to the last.
const (
	StageNew        Stage = "new"         // no application has used it
	StageRollingOut Stage = "rolling-out" // applications have used it
	StageComplete   Stage = "complete"    // it is on for everybody in production since CompleteAfter
	StageOverdue    Stage = "overdue"     // it is potentially stale, and not kept
	StageToRemove   Stage = "to-remove"   // it is marked as stale
	StageArchived   Stage = "archived"
)

// Stages returns all stages, from the first to the last.
func Stages() []Stage {
	return []Stage{StageNew, StageRollingOut, StageComplete, StageOverdue, StageToRemove, StageArchived}
}

// CompleteAfter is how long a toggle has been on for everybody in production when it is complete.
const CompleteAfter = 7 * 24 * time.Hour

// Stage returns the stage of the toggle at the time now: of several that hold, the last one. production are the names of
// the environments of its project that are of the type production.
func (f Feature) Stage(production []string, now time.Time) Stage {
	switch {
	case f.Archived:
		return StageArchived
	case f.Stale:
		return StageToRemove
	case f.PotentiallyStale && !f.IsKept(now):
		return StageOverdue
	}
	if at := f.CompleteAt(production); at != nil && !now.Before(*at) {
		return StageComplete
	}
	if len(f.LastSeen) > 0 {
		return StageRollingOut
	}
	return StageNew
}

// CompleteAt returns when the toggle will have been, or had been, on for everybody in all production environments for
// CompleteAfter. It returns nil if there is none, or if the toggle is not on for everybody in one of them.
func (f Feature) CompleteAt(production []string) *time.Time {
	var last *time.Time
	for _, name := range production {
		since, is := f.ForAllSince[name]
		if !is {
			return nil
		}
		if at := since.Add(CompleteAfter); last == nil || at.After(*last) {
			last = &at
		}
	}
	return last
}

// TrackStage sets ForAllSince and StaleSince of a toggle that is changed from old at the time now.
func (f *Feature) TrackStage(old Feature, now time.Time) {
	now = now.UTC().Truncate(time.Second)
	switch {
	case !f.Stale:
		f.StaleSince = nil
	case old.StaleSince == nil:
		f.StaleSince = &now
	default:
		f.StaleSince = old.StaleSince
	}
	var since map[string]time.Time
	for name, e := range f.Environments {
		if f.Archived || f.Dependency != nil || !e.IsForAll() {
			continue
		}
		if since == nil {
			since = map[string]time.Time{}
		}
		before, was := old.ForAllSince[name]
		if !was {
			before = now
		}
		since[name] = before
	}
	f.ForAllSince = since
}

// IsForAll reports whether a toggle in this state, which depends on no other toggle, is on for every context.
func (e Environment) IsForAll() bool {
	return e.Enabled && slices.ContainsFunc(e.Strategies, Strategy.isForAll)
}

// isForAll reports whether the strategy holds for every context. A rollout does not hold for contexts without the field
// that its stickiness names.
func (s Strategy) isForAll() bool {
	if s.Disabled || len(s.Constraints) > 0 || len(s.Segments) > 0 {
		return false
	}
	const all = "100"
	switch s.Name {
	case StrategyDefault:
		return true
	case StrategyFlexibleRollout:
		stickiness, ok := s.Parameters[ParameterStickiness]
		return s.Parameters[ParameterRollout] == all &&
			(!ok || stickiness == StickinessDefault || stickiness == StickinessRandom)
	case StrategyGradualRolloutRandom:
		return s.Parameters[ParameterPercentage] == all
	}
	return false
}

// LifecycleStage is what Unleash calls how far a toggle has come.
type LifecycleStage string

// The stages of Unleash, from the first to the last.
const (
	LifecycleInitial   LifecycleStage = "initial"
	LifecyclePreLive   LifecycleStage = "pre-live"  // asked for, but not in production
	LifecycleLive      LifecycleStage = "live"      // asked for in production
	LifecycleCompleted LifecycleStage = "completed" // complete, or marked as stale
	LifecycleArchived  LifecycleStage = "archived"
)

// LifecycleEntry is a stage of Unleash in which a toggle is or was.
type LifecycleEntry struct {
	Stage     LifecycleStage
	EnteredAt time.Time
}

// Lifecycle returns the stages of Unleash that the toggle is known to have reached, from the first to the one in which it
// is. The parameters are those of Stage.
func (f Feature) Lifecycle(production []string, now time.Time) []LifecycleEntry {
	reached := []LifecycleEntry{{LifecycleInitial, f.CreatedAt}}
	var preLive, live, completed *time.Time
	for name, at := range f.FirstSeen {
		if slices.Contains(production, name) {
			live = earlier(live, &at)
		} else {
			preLive = earlier(preLive, &at)
		}
	}
	if at := f.CompleteAt(production); at != nil && !now.Before(*at) {
		completed = at
	}
	completed = earlier(completed, f.StaleSince)
	for _, next := range []struct {
		stage LifecycleStage
		at    *time.Time
	}{
		{LifecyclePreLive, preLive},
		{LifecycleLive, live},
		{LifecycleCompleted, completed},
		{LifecycleArchived, f.ArchivedAt},
	} {
		if next.at != nil {
			reached = append(reached, LifecycleEntry{next.stage, *next.at})
		}
	}
	return reached
}

// earlier returns the earlier of two times; nil: there is none.
func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// LifecycleStages returns all stages of Unleash, from the first to the last.
func LifecycleStages() []LifecycleStage {
	return []LifecycleStage{LifecycleInitial, LifecyclePreLive, LifecycleLive, LifecycleCompleted, LifecycleArchived}
}
