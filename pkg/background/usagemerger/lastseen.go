package usagemerger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/datetime"
)

// seenEvery is the time after which the stored time of a toggle in an environment is replaced.
const seenEvery = time.Hour

// times are when applications used a toggle, by environment.
type times map[string]time.Time

// existed reports whether a toggle existed at a time. A tally can be about one that had its name before.
func existed(toggle featuretable.Seen, at time.Time) bool {
	return datetime.Format(at) >= toggle.CreatedAt
}

// putLastSeen stores when applications used the toggles of the running hour. mergeHour does it for other hours.
func (s *sweep) putLastSeen(ctx context.Context) error {
	maps.DeleteFunc(s.lastSeen, func(_ string, stored featuretable.Seen) bool {
		for _, at := range stored.Last {
			if s.began.Sub(at) < 2*seenEvery {
				return false
			}
		}
		return true
	})
	seen := map[string]times{}
	err := usagetable.WalkTallies(ctx, s.client, s.table, usage.HourOf(s.began),
		func(part usagetable.Part, tally usage.Tally) {
			for feature, seconds := range tally.SeenAt {
				see(seen, feature, part.Environment, time.Unix(seconds, 0).UTC())
			}
		})
	if err := s.readable(err); err != nil {
		return err
	}
	return s.putLastSeenOf(ctx, seen)
}

// see notes that an application used a toggle at a time.
func see(seen map[string]times, feature, environment string, at time.Time) {
	if seen[feature] == nil {
		seen[feature] = times{}
	}
	if at.After(seen[feature][environment]) {
		seen[feature][environment] = at
	}
}

// putLastSeenOf stores when applications used toggles, where the stored time is of an earlier hour and older than
// an hour.
func (s *sweep) putLastSeenOf(ctx context.Context, seen map[string]times) error {
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(feature string) bool {
		_, known := s.lastSeen[feature]
		return known
	})
	stored, err := featuretable.GetSeen(ctx, s.client, s.toggles, unknown)
	if err != nil {
		return fmt.Errorf("read when applications used toggles: %w", err)
	}
	maps.Copy(s.lastSeen, stored)
	due := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(feature string) bool {
		known, exists := s.lastSeen[feature]
		return !exists || !s.isDue(known, seen[feature])
	})
	results := make([]*featuretable.Seen, len(due))
	errs := make([]error, len(due))
	var writes errgroup.Group
	writes.SetLimit(concurrency)
	for i, feature := range due {
		writes.Go(func() error {
			before := s.lastSeen[feature]
			last := s.later(before, seen[feature])
			next, ok, err := featuretable.UpdateSeen(ctx, s.client, s.toggles, feature, before, last)
			if ok {
				results[i] = &next
			}
			errs[i] = err
			return nil
		})
	}
	_ = writes.Wait() // the functions return nil
	for i, feature := range due {
		if results[i] == nil { // it was deleted, another sweep has written it, or the result is unknown
			delete(s.lastSeen, feature)
			continue
		}
		s.lastSeen[feature] = *results[i]
		s.seen++
	}
	return errors.Join(errs...)
}

// isDue reports whether a stored time is to be replaced.
func (s *sweep) isDue(stored featuretable.Seen, seen times) bool {
	for environment, at := range seen {
		before := s.past(stored.Last[environment])
		if existed(stored, at) && before.Before(usage.HourOf(at)) && s.began.Sub(before) >= seenEvery {
			return true
		}
	}
	return false
}

// later returns the stored times, with those of later hours. Environments are written together, so that a toggle is
// written once in an hour.
func (s *sweep) later(stored featuretable.Seen, seen times) times {
	next := times{}
	maps.Copy(next, stored.Last)
	for environment, at := range seen {
		if existed(stored, at) && s.past(stored.Last[environment]).Before(usage.HourOf(at)) {
			next[environment] = at
		}
	}
	return next
}

// past returns a stored time, or none if it is in the future: an import has stored it by a fast clock.
func (s *sweep) past(stored time.Time) time.Time {
	if stored.Sub(s.began) >= seenEvery {
		return time.Time{}
	}
	return stored
}
