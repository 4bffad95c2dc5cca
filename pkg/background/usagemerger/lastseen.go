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
)

// seenEvery is the time after which the stored time of a toggle in an environment is replaced.
const seenEvery = time.Hour

// times are when applications asked for a toggle, by environment.
type times map[string]time.Time

// putLastSeen stores when applications asked for the toggles of the running hour. mergeHour does it for other hours.
func (s *sweep) putLastSeen(ctx context.Context) error {
	maps.DeleteFunc(s.lastSeen, func(_ string, stored times) bool {
		for _, at := range stored {
			if s.began.Sub(at) < 2*seenEvery {
				return false
			}
		}
		return true
	})
	hour := usage.HourOf(s.began)
	tallies, err := usagetable.ReadTallies(ctx, s.client, s.table, hour)
	if err := s.readable(err); err != nil {
		return err
	}
	return s.putLastSeenOf(ctx, tallies)
}

// putLastSeenOf stores when applications asked for the toggles of tallies, where the stored time is before the hour of the
// tally and older than an hour.
func (s *sweep) putLastSeenOf(ctx context.Context, tallies usagetable.Tallies) error {
	seen := seenIn(tallies)
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(feature string) bool {
		return s.lastSeen[feature] != nil
	})
	stored, err := s.readLastSeen(ctx, unknown)
	if err != nil {
		return fmt.Errorf("read when applications asked for toggles: %w", err)
	}
	maps.Copy(s.lastSeen, stored)
	due := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(feature string) bool {
		known, exists := s.lastSeen[feature]
		return !exists || !s.isDue(known, seen[feature])
	})
	results := make([]times, len(due))
	errs := make([]error, len(due))
	var writes errgroup.Group
	writes.SetLimit(concurrency)
	for i, feature := range due {
		writes.Go(func() error {
			before := s.lastSeen[feature]
			next := s.later(before, seen[feature])
			ok, err := featuretable.UpdateLastSeen(ctx, s.client, s.toggles, feature, before, next)
			if ok {
				results[i] = next
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
		s.lastSeen[feature] = results[i]
		s.seen++
	}
	return errors.Join(errs...)
}

// seenIn returns when applications asked for toggles: when the process last wrote the tally, within the hour of the tally.
func seenIn(tallies usagetable.Tallies) map[string]times {
	seen := map[string]times{}
	for i, part := range tallies.Parts {
		at := part.WrittenAt
		if end := part.Hour.Add(time.Hour - time.Second); at.After(end) {
			at = end
		}
		if at.Before(part.Hour) {
			at = part.Hour
		}
		for feature := range tallies.Contents[i].Features {
			if seen[feature] == nil {
				seen[feature] = times{}
			}
			if at.After(seen[feature][part.Environment]) {
				seen[feature][part.Environment] = at
			}
		}
	}
	return seen
}

// isDue reports whether a stored time is to be replaced.
func (s *sweep) isDue(stored, seen times) bool {
	for environment, at := range seen {
		before := s.past(stored[environment])
		if before.Before(usage.HourOf(at)) && s.began.Sub(before) >= seenEvery {
			return true
		}
	}
	return false
}

// later returns the stored times, with those of later hours. Environments are written together, so that a toggle is
// written once in an hour.
func (s *sweep) later(stored, seen times) times {
	next := times{}
	maps.Copy(next, stored)
	for environment, at := range seen {
		if s.past(stored[environment]).Before(usage.HourOf(at)) {
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
