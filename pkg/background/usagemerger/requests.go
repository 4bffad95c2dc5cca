package usagemerger

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
)

type pathAndHour struct {
	path string
	hour time.Time
}

// putRequests stores the requests of the recent hours. mergeHours stores those of the hours before, once an hour.
func (s *sweep) putRequests(ctx context.Context) error {
	oldest := usage.HourOf(s.began).Add(-usagetable.Accepted - time.Hour)
	maps.DeleteFunc(s.requests, func(at pathAndHour, _ usage.Statuses) bool { return at.hour.Before(oldest) })
	var errs []error
	for _, hour := range s.recentHours() {
		errs = append(errs, s.putRequestsOf(ctx, hour))
	}
	return errors.Join(errs...)
}

// putRequestsOf stores the requests of an hour that have changed since this process stored them.
func (s *sweep) putRequestsOf(ctx context.Context, hour time.Time) error {
	requests, err := usagetable.ReadRequests(ctx, s.client, s.table, hour)
	if err := s.readable(err); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(requests)) {
		counts, at := requests[path], pathAndHour{path, hour}
		if s.requests[at] == counts {
			continue
		}
		if err := s.traffic.PutHour(ctx, path, hour, traffic.Counts(counts)); err != nil {
			return err
		}
		s.requests[at] = counts
		s.counters++
	}
	return nil
}
