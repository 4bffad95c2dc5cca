package usagetable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/platform/dynamo"
)

// parallelReads limits the calls that a read of several hours makes at the same time.
const parallelReads = 8

// UnreadableError means that parts or applications were left out of what was read, because they do not have the form
// that the service writes. It comes with everything else.
type UnreadableError struct{ Causes []error }

func (e *UnreadableError) Error() string { return errors.Join(e.Causes...).Error() }

// Unwrap returns the causes.
func (e *UnreadableError) Unwrap() []error { return e.Causes }

// leave notes what is left out of what is read.
func (e *UnreadableError) leave(cause error) { e.Causes = append(e.Causes, cause) }

// orNil returns the error, or nil if nothing was left out.
func (e *UnreadableError) orNil() error {
	if len(e.Causes) == 0 {
		return nil
	}
	return e
}

// exceptUnreadable returns the error, or nil if it is an UnreadableError.
func exceptUnreadable(err error) error {
	if _, ok := errors.AsType[*UnreadableError](err); ok {
		return nil
	}
	return err
}

// Tallies is the tallies of an hour. The contents stand beside their parts.
type Tallies struct {
	Parts    []Part
	Contents []usage.Tally
}

// Sum returns the sum of the tallies of each environment.
func (t Tallies) Sum() map[string]usage.Tally {
	sums := map[string]usage.Tally{}
	for i, part := range t.Parts {
		if _, ok := sums[part.Environment]; !ok {
			sums[part.Environment] = usage.NewTally()
		}
		sums[part.Environment].Merge(t.Contents[i])
	}
	return sums
}

// ReadTallies reads the tallies of an hour consistently. Its error can be an UnreadableError.
func ReadTallies(ctx context.Context, client *dynamodb.Client, table string, hour time.Time) (Tallies, error) {
	var all Tallies
	var unreadable UnreadableError
	for item, err := range queryParts(ctx, client, table, hour, KindTally) {
		if err != nil {
			return Tallies{}, fmt.Errorf("read the usage of the hour %s: %w", hour.Format(hourFormat), err)
		}
		content := usage.NewTally()
		part, err := unmarshalPart(item, KindTally, hour, &content)
		if err != nil {
			unreadable.leave(err)
			continue
		}
		all.Parts, all.Contents = append(all.Parts, part), append(all.Contents, content)
	}
	return all, unreadable.orNil()
}

// hoursOf returns the hours from the one of from to the one of to, both included.
func hoursOf(from, to time.Time) []time.Time {
	var hours []time.Time
	for hour := usage.HourOf(from); !hour.After(usage.HourOf(to)); hour = hour.Add(time.Hour) {
		hours = append(hours, hour)
	}
	return hours
}

// WalkTallies calls visit with each tally of an hour, without those that cannot be read. It keeps no tally.
func WalkTallies(
	ctx context.Context, client *dynamodb.Client, table string, hour time.Time, visit func(Part, usage.Tally),
) error {
	for item, err := range queryParts(ctx, client, table, hour, KindTally) {
		if err != nil {
			return fmt.Errorf("read the usage of the hour %s: %w", hour.Format(hourFormat), err)
		}
		content := usage.NewTally()
		part, err := unmarshalPart(item, KindTally, hour, &content)
		if err != nil {
			continue // the sweep that merges the hour reports it
		}
		visit(part, content)
	}
	return nil
}

// ReadPresences reads which applications were heard from in the hours from the one of from to the one of to, both
// included, by environment, consistently, without parts that cannot be read.
func ReadPresences(ctx context.Context, client *dynamodb.Client, table string, from, to time.Time) (
	map[string]usage.Presence, error,
) {
	sums := map[string]usage.Presence{}
	var merging sync.Mutex
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(parallelReads)
	for _, hour := range hoursOf(from, to) {
		reads.Go(func() error {
			read, err := ReadPresence(ctx, client, table, hour)
			merging.Lock()
			defer merging.Unlock()
			for environment, presence := range read {
				if sums[environment] == nil {
					sums[environment] = usage.Presence{}
				}
				sums[environment].Merge(presence)
			}
			return exceptUnreadable(err)
		})
	}
	return sums, reads.Wait()
}

// ReadPresence reads which applications were heard from in an hour, by environment, consistently. Its error can be an
// UnreadableError.
func ReadPresence(ctx context.Context, client *dynamodb.Client, table string, hour time.Time) (
	map[string]usage.Presence, error,
) {
	sums := map[string]usage.Presence{}
	var unreadable UnreadableError
	for item, err := range queryParts(ctx, client, table, hour, KindPresence) {
		if err != nil {
			return nil, fmt.Errorf("read the applications of the hour %s: %w", hour.Format(hourFormat), err)
		}
		content := usage.Presence{}
		part, err := unmarshalPart(item, KindPresence, hour, &content)
		if err != nil {
			unreadable.leave(err)
			continue
		}
		if sums[part.Environment] == nil {
			sums[part.Environment] = usage.Presence{}
		}
		sums[part.Environment].Merge(content)
	}
	return sums, unreadable.orNil()
}

// ReadRequests reads the requests of applications in an hour consistently. Its error can be an UnreadableError.
func ReadRequests(ctx context.Context, client *dynamodb.Client, table string, hour time.Time) (usage.Requests, error) {
	sum := usage.Requests{}
	var unreadable UnreadableError
	for item, err := range queryParts(ctx, client, table, hour, KindRequests) {
		if err != nil {
			return nil, fmt.Errorf("read the requests of the hour %s: %w", hour.Format(hourFormat), err)
		}
		content := usage.Requests{}
		if _, err := unmarshalPart(item, KindRequests, hour, &content); err != nil {
			unreadable.leave(err)
			continue
		}
		sum.Merge(content)
	}
	return sum, unreadable.orNil()
}

func queryParts(
	ctx context.Context, client *dynamodb.Client, table string, hour time.Time, kind Kind, attributes ...string,
) func(yield func(dynamo.Item, error) bool) {
	return dynamo.QueryWhere(ctx, client, table, expression.KeyAnd(
		expression.Key(AttributePartition).Equal(expression.Value(hourPartition(hour))),
		expression.Key(AttributeItem).BeginsWith(string(kind)+"#"),
	), attributes...)
}

// TallyParts reads which tallies an hour has, without their contents.
func TallyParts(ctx context.Context, client *dynamodb.Client, table string, hour time.Time) ([]Part, error) {
	var parts []Part
	for item, err := range queryParts(ctx, client, table, hour, KindTally, "environment", "id", AttributeWrites) {
		if err != nil {
			return nil, fmt.Errorf("list the usage of the hour %s: %w", hour.Format(hourFormat), err)
		}
		parts = append(parts, Part{
			Kind:        KindTally,
			Hour:        hour,
			Environment: item.String("environment"),
			ID:          item.String("id"),
			Writes:      item.Int(AttributeWrites),
		})
	}
	return parts, nil
}

// Merged reads the fingerprints of the hours that were merged, by the start of the hour. The fingerprint of an hour that
// was merged without parts that cannot be read is empty.
func Merged(ctx context.Context, client *dynamodb.Client, table string) (map[time.Time]string, error) {
	merged := map[time.Time]string{}
	for item, err := range dynamo.Query(ctx, client, table, AttributePartition, dynamo.S(mergedPartition)) {
		if err != nil {
			return nil, fmt.Errorf("list the merged hours of usage: %w", err)
		}
		hour, err := time.Parse(hourFormat, item.String(AttributeItem))
		if err != nil {
			return nil, fmt.Errorf("list the merged hours of usage: %w", err)
		}
		merged[hour] = item.String("fingerprint")
	}
	return merged, nil
}

// ReadFeature reads the usage of a toggle in the hours from the one of from to the one of to, both included, ordered by
// hour and environment. It reads hours that are not merged yet from their parts, without those that cannot be read.
func ReadFeature(ctx context.Context, client *dynamodb.Client, table, feature string, from, to time.Time) (
	[]Record, error,
) {
	all, err := readRecords(ctx, client, table, featurePartition(feature), from, to,
		func(item dynamo.Item) (Record, error) { return UnmarshalRecord(item, feature) },
		func(hour time.Time, t Tallies) []Record {
			return slices.DeleteFunc(Records(hour, t.Sum()), func(r Record) bool { return r.Feature != feature })
		})
	sortRecords(all)
	return all, err
}

// ReadUse is ReadFeature for what an application asked for. The order is not determined.
func ReadUse(ctx context.Context, client *dynamodb.Client, table, application string, from, to time.Time) (
	[]UseRecord, error,
) {
	return readRecords(ctx, client, table, usePartition(application), from, to,
		func(item dynamo.Item) (UseRecord, error) { return unmarshalUse(item, application) },
		func(hour time.Time, t Tallies) []UseRecord {
			return slices.DeleteFunc(UseRecords(hour, t.Sum()), func(r UseRecord) bool { return r.Application != application })
		})
}

// ReadUnknown is ReadFeature for the names without a toggle. The order is not determined.
func ReadUnknown(ctx context.Context, client *dynamodb.Client, table string, from, to time.Time) (
	[]UnknownRecord, error,
) {
	return readRecords(ctx, client, table, unknownPartition, from, to, unmarshalUnknown, UnknownRecords)
}

// readRecords reads the records of a partition in hours. It computes those of hours that are not merged yet.
func readRecords[R hourly](
	ctx context.Context, client *dynamodb.Client, table, partition string, from, to time.Time,
	unmarshal func(dynamo.Item) (R, error), compute func(time.Time, Tallies) []R,
) ([]R, error) {
	merged, err := Merged(ctx, client, table)
	if err != nil {
		return nil, err
	}
	first, last := usage.HourOf(from), usage.HourOf(to)
	var open []time.Time
	for hour := last; !hour.Before(first) && last.Sub(hour) <= Accepted; hour = hour.Add(-time.Hour) {
		if _, ok := merged[hour]; !ok {
			open = append(open, hour)
		}
	}
	computed := make([][]R, len(open))
	var stored []R
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(parallelReads)
	reads.Go(func() (err error) {
		stored, err = queryRecords(ctx, client, table, partition, first, last, unmarshal)
		return err
	})
	for i, hour := range open {
		reads.Go(func() error {
			tallies, err := ReadTallies(ctx, client, table, hour)
			computed[i] = compute(hour, tallies)
			return exceptUnreadable(err)
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	// An hour can have been merged for the first time since the markers were read.
	stored = slices.DeleteFunc(stored, func(r R) bool { return slices.Contains(open, r.hour()) })
	return append(stored, slices.Concat(computed...)...), nil
}

func queryRecords[R any](
	ctx context.Context, client *dynamodb.Client, table, partition string, first, last time.Time,
	unmarshal func(dynamo.Item) (R, error),
) ([]R, error) {
	keys := expression.KeyAnd(
		expression.Key(AttributePartition).Equal(expression.Value(partition)),
		expression.Key(AttributeItem).Between(expression.Value(first.Format(hourFormat)+"#"),
			expression.Value(last.Format(hourFormat)+"$")), // $ follows # in ASCII
	)
	var all []R
	for item, err := range dynamo.QueryWhere(ctx, client, table, keys) {
		if err != nil {
			return nil, fmt.Errorf("read the usage of %q: %w", partition, err)
		}
		r, err := unmarshal(item)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Applications reads all applications, ordered by name. Its error can be an UnreadableError.
func Applications(ctx context.Context, client *dynamodb.Client, table string) ([]Application, error) {
	var all []Application
	var unreadable UnreadableError
	for item, err := range dynamo.Query(ctx, client, table, AttributePartition, dynamo.S(applicationsPartition)) {
		if err != nil {
			return nil, fmt.Errorf("list applications: %w", err)
		}
		a, err := unmarshalApplication(item)
		if err != nil {
			unreadable.leave(err)
			continue
		}
		all = append(all, a)
	}
	return all, unreadable.orNil()
}

// ReadApplication reads an application. It returns false if there is none.
func ReadApplication(ctx context.Context, client *dynamodb.Client, table, name string) (Application, bool, error) {
	item, err := dynamo.Get(ctx, client, table, ApplicationKey(name))
	if err != nil || item == nil {
		return Application{}, false, err
	}
	a, err := unmarshalApplication(item)
	return a, err == nil, err
}
