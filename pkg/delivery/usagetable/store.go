package usagetable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// IncompleteError means that something was left out of what was read. It comes with everything else.
type IncompleteError struct {
	Unreadable []error // parts and applications that do not have the form that the service writes
	Excess     []error // parts that are too many
}

func (e *IncompleteError) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns the causes.
func (e *IncompleteError) Unwrap() []error { return slices.Concat(e.Unreadable, e.Excess) }

// orNil returns the error, or nil if nothing was left out.
func (e *IncompleteError) orNil() error {
	if len(e.Unreadable)+len(e.Excess) == 0 {
		return nil
	}
	return e
}

// ExceptIncomplete returns the error, or nil if it is an IncompleteError, which the sweep that merges the hour reports.
func ExceptIncomplete(err error) error {
	if _, ok := errors.AsType[*IncompleteError](err); ok {
		return nil
	}
	return err
}

// walk calls visit with the item of each part from the first to the last kind in an hour, ordered by kind and
// environment, read consistently. Of parts of one kind and environment that are too many it reads the first ones, and
// notes it in left.
func walk(
	ctx context.Context, client *dynamodb.Client, table string, hour time.Time, first, last Kind, left *IncompleteError,
	visit func(Kind, dynamo.Item), attributes ...string,
) error {
	partition := expression.Key(AttributePartition).Equal(expression.Value(hourPartition(hour)))
	for from := string(first) + "#"; from != ""; {
		keys := expression.KeyAnd(partition, expression.Key(AttributeItem).
			Between(expression.Value(from), expression.Value(string(last)+"$"))) // $ follows # in ASCII
		from = ""
		group, n := "", 0
		for item, err := range dynamo.QueryWhere(ctx, client, table, keys, attributes...) {
			if err != nil {
				return fmt.Errorf("read the usage of the hour %s: %w", hour.Format(hourFormat), err)
			}
			text, _, _ := strings.Cut(item.String(AttributeItem), "#")
			kind, environment := Kind(text), item.String(attributeEnvironment)
			if g := text + "#" + environment; g != group {
				group, n = g, 0
			}
			if n++; n > maxParts(kind) {
				left.Excess = append(left.Excess, fmt.Errorf("%s has more than %d parts of the kind %s in the hour %s",
					environment, maxParts(kind), kind, hour.Format(hourFormat)))
				from = group + "$"
				break
			}
			visit(kind, item)
		}
	}
	return nil
}

// walkContents is walk for parts with contents, without those that cannot be read.
func walkContents[C any](
	ctx context.Context, client *dynamodb.Client, table string, hour time.Time, first, last Kind,
	empty func() C, visit func(Part, C),
) error {
	var left IncompleteError
	err := walk(ctx, client, table, hour, first, last, &left, func(kind Kind, item dynamo.Item) {
		content := empty()
		part, err := unmarshalPart(item, kind, hour, &content)
		if err != nil {
			left.Unreadable = append(left.Unreadable, err)
			return
		}
		visit(part, content)
	})
	return cmp.Or(err, left.orNil())
}

// WalkTallies calls visit with each tally of an hour, those of backend tokens first. It keeps none. Its error can be an
// IncompleteError.
func WalkTallies(
	ctx context.Context, client *dynamodb.Client, table string, hour time.Time, visit func(Part, usage.Tally),
) error {
	return walkContents(ctx, client, table, hour, KindTally, KindFrontendTally, usage.NewTally, visit)
}

// TallyParts reads which tallies an hour has, without their contents. Its error can be an IncompleteError.
func TallyParts(ctx context.Context, client *dynamodb.Client, table string, hour time.Time) ([]Part, error) {
	var parts []Part
	var left IncompleteError
	err := walk(ctx, client, table, hour, KindTally, KindFrontendTally, &left, func(kind Kind, item dynamo.Item) {
		parts = append(parts, Part{
			Kind:        kind,
			Hour:        hour,
			Environment: item.String(attributeEnvironment),
			ID:          item.String("id"),
			Writes:      item.Int(AttributeWrites),
		})
	}, AttributeItem, attributeEnvironment, "id", AttributeWrites)
	return parts, cmp.Or(err, left.orNil())
}

// hoursOf returns the hours from the one of from to the one of to, both included.
func hoursOf(from, to time.Time) []time.Time {
	var hours []time.Time
	for hour := usage.HourOf(from); !hour.After(usage.HourOf(to)); hour = hour.Add(time.Hour) {
		hours = append(hours, hour)
	}
	return hours
}

// WalkPresences calls visit with each presence of an hour. It keeps none. Its error can be an IncompleteError.
func WalkPresences(
	ctx context.Context, client *dynamodb.Client, table string, hour time.Time, visit func(Part, usage.Presence),
) error {
	return walkContents(ctx, client, table, hour, KindPresence, KindFrontendPresence,
		func() usage.Presence { return usage.Presence{} }, visit)
}

// ReadInstances reads the instances of an application in the hours from the one of from to the one of to, both
// included, by environment and id, without parts that are left out.
func ReadInstances(ctx context.Context, client *dynamodb.Client, table, application string, from, to time.Time) (
	map[string]map[string]usage.Instance, error,
) {
	sums := map[string]usage.Presence{}
	var merging sync.Mutex
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(parallelReads)
	for _, hour := range hoursOf(from, to) {
		reads.Go(func() error {
			return ExceptIncomplete(WalkPresences(ctx, client, table, hour, func(part Part, presence usage.Presence) {
				here, ok := presence[application]
				if !ok {
					return
				}
				merging.Lock()
				defer merging.Unlock()
				if sums[part.Environment] == nil {
					sums[part.Environment] = usage.Presence{}
				}
				sums[part.Environment].Merge(usage.Presence{application: here})
			}))
		})
	}
	instances := map[string]map[string]usage.Instance{}
	err := reads.Wait()
	for environment, presence := range sums {
		instances[environment] = presence[application].Instances
	}
	return instances, err
}

// ReadRequests reads the requests of applications in an hour consistently. Its error can be an IncompleteError.
func ReadRequests(ctx context.Context, client *dynamodb.Client, table string, hour time.Time) (usage.Requests, error) {
	sum := usage.Requests{}
	err := walkContents(ctx, client, table, hour, KindRequests, KindRequests,
		func() usage.Requests { return usage.Requests{} }, func(_ Part, requests usage.Requests) { sum.Merge(requests) })
	return sum, err
}

// Merged reads the fingerprints of the hours that were merged, by the start of the hour. The fingerprint of an hour
// that was merged without parts that cannot be read is empty.
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

// ReadLate reads the hours that got parts after they had ended, in the order of the last of these parts.
func ReadLate(ctx context.Context, client *dynamodb.Client, table string) ([]Late, error) {
	var all []Late
	for item, err := range dynamo.Query(ctx, client, table, AttributePartition, dynamo.S(latePartition)) {
		var stored lateRecord
		if err == nil {
			err = dynamo.Unmarshal(item, &stored)
		}
		var hour time.Time
		if err == nil {
			hour, err = time.Parse(hourFormat, stored.Item)
		}
		if err != nil {
			return nil, fmt.Errorf("list the hours with late usage: %w", err)
		}
		all = append(all, Late{hour, stored.At, stored.ID})
	}
	slices.SortFunc(all, func(a, b Late) int { return a.At.Compare(b.At) })
	return all, nil
}

// ReadFeatures reads the usage of toggles in the hours from the one of from to the one of to, both included, ordered by
// hour, environment and toggle. It reads hours that are not merged yet from their parts, once for all toggles, without
// those that are left out.
func ReadFeatures(ctx context.Context, client *dynamodb.Client, table string, features []string, from, to time.Time) (
	[]Record, error,
) {
	if len(features) == 0 {
		return nil, nil
	}
	partitions := make([]string, len(features))
	for i, feature := range features {
		partitions[i] = featurePartition(feature)
	}
	all, err := readRecords(ctx, client, table, partitions, from, to, UnmarshalRecord,
		func(t usage.Tally) usage.Tally {
			chosen := usage.NewTally()
			for _, feature := range features {
				if by, ok := t.Features[feature]; ok {
					chosen.Features[feature] = by
				}
			}
			return chosen
		}, Sums.Records)
	sortRecords(all)
	return all, err
}

// ReadUse is ReadFeatures for what applications used. The order is not determined. It reads the parts of hours that
// are not merged yet once for all applications.
func ReadUse(
	ctx context.Context, client *dynamodb.Client, table string, applications []string, from, to time.Time,
) ([]UseRecord, error) {
	if len(applications) == 0 {
		return nil, nil
	}
	chosen, partitions := map[string]bool{}, make([]string, len(applications))
	for i, name := range applications {
		chosen[name], partitions[i] = true, usePartition(name)
	}
	return readRecords(ctx, client, table, partitions, from, to, unmarshalUse, func(t usage.Tally) usage.Tally {
		for _, by := range t.Features {
			maps.DeleteFunc(by, func(application string, _ usage.Counts) bool { return !chosen[application] })
		}
		for _, by := range t.Unknown {
			maps.DeleteFunc(by, func(application string, _ int64) bool { return !chosen[application] })
		}
		return usage.Tally{Features: t.Features, Unknown: t.Unknown}
	}, Sums.UseRecords)
}

// ReadUnknown is ReadFeatures for the names without a toggle. The order is not determined.
func ReadUnknown(ctx context.Context, client *dynamodb.Client, table string, from, to time.Time) (
	[]UnknownRecord, error,
) {
	return readRecords(ctx, client, table, []string{unknownPartition}, from, to, unmarshalUnknown,
		func(t usage.Tally) usage.Tally { return usage.Tally{Unknown: t.Unknown} }, Sums.UnknownRecords)
}

// readRecords reads the records of partitions in hours. It computes those of hours that are not merged yet from what is
// chosen of each tally.
func readRecords[R hourly](
	ctx context.Context, client *dynamodb.Client, table string, partitions []string, from, to time.Time,
	unmarshal func(dynamo.Item) (R, error), choose func(usage.Tally) usage.Tally, compute func(Sums, time.Time) []R,
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
	computed, found := make([][]R, len(open)), make([][]R, len(partitions))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(parallelReads)
	for i, partition := range partitions {
		reads.Go(func() (err error) {
			found[i], err = queryRecords(ctx, client, table, partition, first, last, unmarshal)
			return err
		})
	}
	for i, hour := range open {
		reads.Go(func() error {
			sums := Sums{}
			err := WalkTallies(ctx, client, table, hour, func(part Part, tally usage.Tally) {
				sums.Add(part, choose(tally), nil)
			})
			computed[i] = compute(sums, hour)
			return ExceptIncomplete(err)
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	// An hour can have been merged for the first time since the markers were read.
	stored := slices.DeleteFunc(slices.Concat(found...), func(r R) bool { return slices.Contains(open, r.hour()) })
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

// Applications reads all applications, ordered by name. Its error can be an IncompleteError.
func Applications(ctx context.Context, client *dynamodb.Client, table string) ([]Application, error) {
	var all []Application
	var left IncompleteError
	for item, err := range dynamo.Query(ctx, client, table, AttributePartition, dynamo.S(applicationsPartition)) {
		if err != nil {
			return nil, fmt.Errorf("list applications: %w", err)
		}
		a, err := unmarshalApplication(item)
		if err != nil {
			left.Unreadable = append(left.Unreadable, err)
			continue
		}
		all = append(all, a)
	}
	return all, left.orNil()
}

// ReadApplications reads the applications with the names that exist, in any order.
func ReadApplications(
	ctx context.Context, client *dynamodb.Client, table string, names []string,
) ([]Application, error) {
	var keys []dynamo.Item
	for _, name := range names {
		if name != "" && len(name) <= maxSortKey {
			keys = append(keys, ApplicationKey(name))
		}
	}
	items, err := dynamo.GetAll(ctx, client, table, keys)
	if err != nil {
		return nil, fmt.Errorf("read applications: %w", err)
	}
	var all []Application
	for _, item := range items {
		a, err := unmarshalApplication(item)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// maxSortKey is the maximum length of a sort key in DynamoDB, in bytes. Applications can have longer names.
const maxSortKey = 1024

// ReadApplication reads an application. It returns false if there is none.
func ReadApplication(ctx context.Context, client *dynamodb.Client, table, name string) (Application, bool, error) {
	item, err := dynamo.Get(ctx, client, table, ApplicationKey(name))
	if err != nil || item == nil {
		return Application{}, false, err
	}
	a, err := unmarshalApplication(item)
	return a, err == nil, err
}
