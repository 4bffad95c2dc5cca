package usagemerger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/dynamo"
)

// mergeHours merges the last hour, once it has settled and unless it is marked, and before it the hours that have got
// other parts since they were merged. The last hour is marked at the end, so that a run that was interrupted is
// repeated.
func (s *sweep) mergeHours(ctx context.Context) error {
	running := usage.HourOf(s.began)
	last := running.Add(-time.Hour)
	if s.began.Sub(running) < settle || s.merged.Equal(last) {
		return nil
	}
	markers, err := usagetable.Merged(ctx, s.client, s.table)
	if err != nil {
		return err
	}
	if _, ok := markers[last]; ok {
		s.merged = last
		return nil
	}
	var errs []error
	for hour := firstHour(markers, running); hour.Before(running); hour = hour.Add(time.Hour) {
		if s.parts > maxParts {
			break // the last hour is not marked, so that the next sweep continues
		}
		fingerprint, marked := markers[hour]
		errs = append(errs, s.mergeHour(ctx, hour, fingerprint, marked), s.putRequestsOf(ctx, hour))
	}
	return errors.Join(errs...)
}

// mergeLate merges again the first hour that has got other parts since it was merged. The next sweep merges the next
// one: whoever has a token can report for each of the last 24 hours, again and again.
func (s *sweep) mergeLate(ctx context.Context) error {
	late, err := usagetable.ReadLate(ctx, s.client, s.table)
	if err != nil || len(late) == 0 {
		return err
	}
	markers, err := usagetable.Merged(ctx, s.client, s.table)
	if err != nil {
		return err
	}
	merged := s.hours
	for _, l := range late {
		if s.hours > merged {
			break
		}
		fingerprint, marked := markers[l.Hour]
		if !marked {
			continue // mergeHours will merge it
		}
		if err := s.mergeHour(ctx, l.Hour, fingerprint, marked); err != nil {
			return err
		}
		if err := s.deleteLate(ctx, l); err != nil {
			return fmt.Errorf("note that the hour %s was merged: %w", l.Hour.Format(time.RFC3339), err)
		}
	}
	return nil
}

// firstHour returns the first hour that can have other parts than when it was merged: the first one that processes
// could still count when the newest marker was written. That can be days ago, after an outage of the sweeps.
func firstHour(markers map[time.Time]string, running time.Time) time.Time {
	newest := running.Add(-time.Hour)
	if len(markers) > 0 {
		newest = slices.MaxFunc(slices.Collect(maps.Keys(markers)), time.Time.Compare)
	}
	hour := newest.Add(-usagetable.Accepted)
	if oldest := running.Add(time.Hour - usagetable.PartsKept); hour.Before(oldest) {
		return oldest
	}
	return hour
}

// mergeHour computes the records of an hour, unless it is marked with the fingerprint of its parts.
func (s *sweep) mergeHour(ctx context.Context, hour time.Time, fingerprint string, marked bool) error {
	parts, err := usagetable.TallyParts(ctx, s.client, s.table, hour)
	if err := s.readable(err); err != nil {
		return err
	}
	if marked && fingerprint == usagetable.Fingerprint(parts) {
		return nil
	}
	if err := s.readApplications(ctx); err != nil {
		return err
	}
	isKnown := func(application string) bool { _, ok := s.applications[application]; return ok }
	sums := usagetable.Sums{}
	parts = nil
	err = usagetable.WalkTallies(ctx, s.client, s.table, hour, func(part usagetable.Part, tally usage.Tally) {
		parts = append(parts, part)
		sums.Add(part, tally, isKnown)
	})
	s.parts += len(parts)
	incomplete, _ := errors.AsType[*usagetable.IncompleteError](err)
	complete := incomplete == nil || len(incomplete.Unreadable) == 0
	if err := s.readable(err); err != nil {
		return err
	}
	items, err := recordsOf(hour, sums)
	if err != nil {
		return err
	}
	s.excess += sums.Excess()
	stored, err := s.putRecords(ctx, items, usagetable.Writes(parts))
	if err != nil {
		return fmt.Errorf("merge the usage of the hour %s: %w", hour.Format(time.RFC3339), err)
	}
	seen := map[string]times{}
	for environment, sum := range sums {
		for feature, at := range sum.SeenAt {
			see(seen, feature, environment, at)
		}
	}
	if err := s.putLastSeenOf(ctx, seen); err != nil {
		return err
	}
	fingerprint = ""
	if complete && stored {
		fingerprint = usagetable.Fingerprint(parts)
	}
	if _, err := s.put(ctx, usagetable.MarshalMarker(hour, fingerprint)); err != nil {
		return fmt.Errorf("mark the hour %s as merged: %w", hour.Format(time.RFC3339), err)
	}
	s.hours++
	return nil
}

// recordsOf returns the items of the records of an hour.
func recordsOf(hour time.Time, sums usagetable.Sums) ([]dynamo.Item, error) {
	features, err := marshalAll(sums.Records(hour), usagetable.MarshalRecord)
	if err != nil {
		return nil, err
	}
	uses, err := marshalAll(sums.UseRecords(hour), usagetable.MarshalUse)
	if err != nil {
		return nil, err
	}
	unknown, err := marshalAll(sums.UnknownRecords(hour), usagetable.MarshalUnknown)
	return slices.Concat(features, uses, unknown), err
}

func marshalAll[R any](records []R, marshal func(R) (dynamo.Item, error)) ([]dynamo.Item, error) {
	items := make([]dynamo.Item, len(records))
	for i, r := range records {
		item, err := marshal(r)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return items, nil
}

// putRecords stores records that were computed from parts with a number of writes. It reports whether none was left
// out.
func (s *sweep) putRecords(ctx context.Context, records []dynamo.Item, writes int64) (all bool, err error) {
	var rejected atomic.Bool
	puts, ctx := errgroup.WithContext(ctx)
	puts.SetLimit(concurrency)
	for _, record := range records {
		puts.Go(func() error {
			stored, err := s.putRecord(ctx, record, writes)
			if err == nil && !stored {
				rejected.Store(true)
			}
			return err
		})
	}
	err = puts.Wait()
	s.records += len(records)
	return !rejected.Load(), err
}
