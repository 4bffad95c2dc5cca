package feature

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/toggle"
)

// resources is what responses with toggles contain of other resources.
type resources struct {
	types        Types
	environments []environment.Environment // in the order of responses
	segments     map[int64]string          // names by ids
	used         hourUsage
}

// resources reads all types and environments.
func (r *Reader) resources(ctx context.Context) (known resources, err error) {
	var reads errgroup.Group
	reads.Go(func() (err error) {
		known.types, err = r.Types(ctx)
		return err
	})
	reads.Go(func() (err error) {
		known.environments, err = r.environments.List(ctx)
		return err
	})
	err = reads.Wait()
	return known, err
}

// segmentIDs returns the ids of all segments by their names. It scans the table.
func (r *Reader) segmentIDs(ctx context.Context) (map[string]int64, error) {
	all, err := segmenttable.Scan(ctx, r.client, r.segments)
	ids := map[string]int64{}
	for _, s := range all {
		ids[s.Name] = s.ID
	}
	return ids, err
}

// resourcesOf reads the type of a toggle, all environments, the segments that the toggle uses, and the usage.
func (r *Reader) resourcesOf(ctx context.Context, f toggle.Feature) (known resources, err error) {
	var reads errgroup.Group
	reads.Go(func() error {
		t, _, err := r.Type(ctx, f.Type)
		known.types = Types{f.Type: t}
		return err
	})
	reads.Go(func() (err error) {
		known.environments, err = r.environments.List(ctx)
		return err
	})
	reads.Go(func() (err error) {
		known.segments, err = r.segmentsOf(ctx, []toggle.Feature{f})
		return err
	})
	reads.Go(func() (err error) {
		known.used, err = r.hour.get(ctx)
		return err
	})
	err = reads.Wait()
	return known, err
}

// segmentsOf returns the names of the segments that toggles use by their ids. It must be called after the toggles were
// read, so that it finds each segment that they use, except those that were released and deleted since then.
func (r *Reader) segmentsOf(ctx context.Context, all []toggle.Feature) (map[int64]string, error) {
	var ids []int64
	for _, f := range all {
		ids = append(ids, f.Segments()...)
	}
	slices.Sort(ids)
	names, err := segmenttable.Names(ctx, r.client, r.segments, slices.Compact(ids))
	if err != nil {
		return nil, fmt.Errorf("read the names of segments: %w", err)
	}
	return names, nil
}
