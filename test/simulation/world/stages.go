package world

import (
	"slices"
	"time"

	"toggleadmin/pkg/toggle"
)

// slowWrite is how long a write can take after its process has read the clock.
const slowWrite = 2 * time.Minute

// isNow reports whether a time is that of a write, by the clock of its process, or by the right clock if that one is wrong.
func (w *World) isNow(at time.Time) bool {
	latest := []time.Time{w.engine.caller.process.now(), time.Now().Add(w.skew)}
	return slices.ContainsFunc(latest, func(now time.Time) bool {
		return !at.After(now) && !at.Before(now.Add(-w.skew-slowWrite))
	})
}

// checkMark checks since when a toggle is marked as stale: the write that has marked it.
func (w *World) checkMark(before, after *toggle.Feature) {
	since := after.StaleSince
	switch {
	case after.Stale != (since != nil):
		w.fail("the toggle %s is stale: %t, since %v", after.Name, after.Stale, since)
	case since == nil:
	case before != nil && before.Stale:
		if !since.Equal(*before.StaleSince) {
			w.fail("the toggle %s was stale since %s before a write, which stores %s", after.Name, before.StaleSince, since)
		}
	case !w.isNow(*since):
		w.fail("the toggle %s is marked as stale at %s, and a write stores %s", after.Name, time.Now(), since)
	}
}

// checkReach checks from when on a toggle is on for everybody in each environment: from the write after which it was, by
// the clock of the process, until one after which it is not.
func (w *World) checkReach(before, after *toggle.Feature) {
	for name := range after.ForAllSince {
		if !isForAll(*after, name) {
			w.fail("the toggle %s has a time from which it is on for everybody in %s, but it is not", after.Name, name)
		}
	}
	for name := range after.Environments {
		if !isForAll(*after, name) {
			continue
		}
		since := after.ForAllSince[name]
		if before != nil && isForAll(*before, name) {
			if kept := before.ForAllSince[name]; !since.Equal(kept) {
				w.fail("the toggle %s was on for everybody in %s since %s before and after a write, which stores %s",
					after.Name, name, kept, since)
			}
			continue
		}
		if !w.isNow(since) {
			w.fail("the toggle %s becomes on for everybody in %s at %s, and a write stores %s", after.Name, name, time.Now(), since)
		}
	}
}

// isForAll reports whether a toggle is on for everybody in an environment.
func isForAll(f toggle.Feature, environment string) bool {
	e := f.Environments[environment]
	if f.Archived || f.Dependency != nil || !e.Enabled {
		return false
	}
	for _, s := range e.Strategies {
		whole := s.Name == "default" || s.Name == "flexibleRollout" && s.Parameters["rollout"] == "100" &&
			(s.Parameters["stickiness"] == "default" || s.Parameters["stickiness"] == "random")
		if whole && !s.Disabled && len(s.Constraints)+len(s.Segments) == 0 {
			return true
		}
	}
	return false
}

// stageOf returns the stage of a toggle. No world lives long enough for a toggle that is complete.
func stageOf(f toggle.Feature) string {
	stage := "new"
	if len(f.LastSeen) > 0 {
		stage = "rolling-out"
	}
	if f.PotentiallyStale && (f.Keep == nil || !time.Now().Before(f.Keep.Until)) {
		stage = "overdue"
	}
	if f.Stale {
		stage = "to-remove"
	}
	if f.Archived {
		stage = "archived"
	}
	return stage
}
