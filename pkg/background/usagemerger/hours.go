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
// other parts since they were merged. The last hour is marked at the end, so that a run that was interrupted is repeated.
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
	for hour := first(markers, running); hour.Before(running); hour = hour.Add(time.Hour) {
		fingerprint, marked := markers[hour]
		errs = append(errs, s.mergeHour(ctx, hour, fingerprint, marked), s.putRequestsOf(ctx, hour))
	}
	return errors.Join(errs...)
}

// first returns the first hour that can have other parts than when it was merged: the first one that processes could
// still count when the newest marker was written. That can be days ago, after an outage of the sweeps.
func first(markers map[time.Time]string, running time.Time) time.Time {
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
	if err != nil {
		return err
	}
	if marked && fingerprint == usagetable.Fingerprint(parts) {
		return nil
	}
	tallies, err := usagetable.ReadTallies(ctx, s.client, s.table, hour)
	complete := err == nil
	if err := s.readable(err); err != nil {
		return err
	}
	items, err := recordsOf(hour, tallies)
	if err != nil {
		return err
	}
	stored, err := s.putRecords(ctx, items, usagetable.Writes(tallies.Parts))
	if err != nil {
		return fmt.Errorf("merge the usage of the hour %s: %w", hour.Format(time.RFC3339), err)
	}
	if err := s.putLastSeenOf(ctx, tallies); err != nil {
		return err
	}
	fingerprint = ""
	if complete && stored {
		fingerprint = usagetable.Fingerprint(tallies.Parts)
	}
	if _, err := s.put(ctx, usagetable.MarshalMarker(hour, fingerprint)); err != nil {
		return fmt.Errorf("mark the hour %s as merged: %w", hour.Format(time.RFC3339), err)
	}
	s.hours++
	return nil
}

// recordsOf returns the items of the records of an hour.
func recordsOf(hour time.Time, tallies usagetable.Tallies) ([]dynamo.Item, error) {
	sums := tallies.Sum()
	features, err := marshalAll(usagetable.Records(hour, sums), usagetable.MarshalRecord)
	if err != nil {
		return nil, err
	}
	uses, err := marshalAll(usagetable.UseRecords(hour, sums), usagetable.MarshalUse)
	if err != nil {
		return nil, err
	}
	unknown, err := marshalAll(usagetable.UnknownRecords(hour, tallies), usagetable.MarshalUnknown)
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

// putRecords stores records that were computed from parts with a number of writes. It reports whether none was left out.
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
