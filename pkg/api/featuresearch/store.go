package featuresearch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Searcher finds and counts toggles. It is safe for concurrent use.
type Searcher struct {
	client   *dynamodb.Client
	table    string
	segments string // the table
	flags    *stalenessindex.Flags
	metrics  *clientmetrics.Reader
}

// NewSearcher returns a searcher of the tables Features and Segments, and of Usage for the filter by applications.
func NewSearcher(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time) *Searcher {
	return &Searcher{
		client:   client,
		table:    tables[featuretable.Table],
		segments: tables[segmenttable.Table],
		flags:    stalenessindex.NewFlags(client, tables, nil),
		metrics:  clientmetrics.NewReader(client, tables, now),
	}
}

// Search returns a page of the selected toggles, and the number of all selected ones. It reads the whole table,
// consistently, or, if only toggles that are potentially stale are selected, the part of the staleness index that
// contains them, which is eventually consistent, and then the toggles of the page.
func (s *Searcher) Search(
	ctx context.Context, f Filter, o Order, r feature.Resources,
) (page []toggle.Feature, total int, err error) {
	known := r.Types
	f.known.resources = r
	o.isFavorite = r.IsFavorite
	f.known.environments = map[string]bool{}
	for _, e := range r.Environments {
		f.known.environments[e.Name] = true
	}
	if f.Segment.Values != nil {
		if f.known.segments, err = s.segmentIDs(ctx, f.Visible); err != nil {
			return nil, 0, err
		}
	}
	if f.Application.Values != nil {
		if f.known.uses, err = s.metrics.Uses(ctx, f.Application.Values); err != nil {
			return nil, 0, err
		}
	}
	if f.onlyFlagged() {
		return s.searchFlagged(ctx, f, o, known)
	}
	all, err := featuretable.Scan(ctx, s.client, s.table, f.selects)
	if err != nil {
		return nil, 0, err
	}
	page, err = featuretable.Features(o.page(o.sorted(all, known)))
	return page, len(all), err
}

// searchFlagged is Search in the staleness index, which has the name, the project, the type and the time of creation.
func (s *Searcher) searchFlagged(
	ctx context.Context, f Filter, o Order, known feature.Types,
) (page []toggle.Feature, total int, err error) {
	all, err := s.flagged(ctx, known, f.ofIndex().selects)
	if err != nil {
		return nil, 0, err
	}
	if f.needsItems() || o.needsItems() {
		if all, err = s.selected(ctx, all, f); err != nil {
			return nil, 0, err
		}
		page, err = featuretable.Features(o.page(o.sorted(all, known)))
		return page, len(all), err
	}
	indexed := o.page(o.sorted(all, known))
	current, err := s.selected(ctx, indexed, f)
	if err != nil {
		return nil, 0, err
	}
	page, err = featuretable.Features(o.sorted(current, known))
	return page, len(all) - len(indexed) + len(current), err
}

const (
	// maxReads is the maximum number of concurrent reads of a search.
	maxReads = 16
	// maxRead is the number of toggles that a read of a search reads by name.
	maxRead = 100
)

// selected reads toggles again, and returns those that are still selected.
func (s *Searcher) selected(ctx context.Context, all []featuretable.Row, f Filter) ([]featuretable.Row, error) {
	found := collector{}
	var reads errgroup.Group
	reads.SetLimit(maxReads)
	for batch := range slices.Chunk(all, maxRead) {
		reads.Go(func() error {
			names := make([]string, len(batch))
			for i, row := range batch {
				names[i] = row.Toggle.Name
			}
			existing, err := featuretable.Read(ctx, s.client, s.table, names)
			found.add(existing, f.selects)
			return err
		})
	}
	err := reads.Wait()
	return found.rows, err
}

// flagged reads the selected toggles that are potentially stale from the staleness index.
func (s *Searcher) flagged(
	ctx context.Context, known feature.Types, selects func(featuretable.Row) bool,
) ([]featuretable.Row, error) {
	found := collector{}
	var reads errgroup.Group
	reads.SetLimit(maxReads)
	for _, id := range slices.Sorted(maps.Keys(known)) {
		for shard := range featuretable.Shards {
			reads.Go(func() error {
				r := stalenessindex.Range{Type: id, Shard: shard, PotentiallyStale: true}
				for page, err := range s.flags.Pages(ctx, r) {
					if err != nil {
						return fmt.Errorf("read toggles of the type %q that are potentially stale: %w", id, err)
					}
					found.add(page, selects)
				}
				return nil
			})
		}
	}
	err := reads.Wait()
	return newest(found.rows), err
}

// collector collects rows that are read concurrently.
type collector struct {
	mu   sync.Mutex
	rows []featuretable.Row
}

// add adds the selected ones of rows.
func (c *collector) add(rows []featuretable.Row, selects func(featuretable.Row) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range rows {
		if selects(row) {
			c.rows = append(c.rows, row)
		}
	}
}

// newest returns each toggle once, as it is after its last event. A toggle whose type changes between two reads of the
// index is found with both types.
func newest(all []featuretable.Row) []featuretable.Row {
	slices.SortFunc(all, func(a, b featuretable.Row) int {
		return cmp.Or(cmp.Compare(a.Toggle.Name, b.Toggle.Name), cmp.Compare(b.Toggle.LastEvent, a.Toggle.LastEvent))
	})
	return slices.CompactFunc(all, func(a, b featuretable.Row) bool { return a.Toggle.Name == b.Toggle.Name })
}

// segmentIDs returns the ids of the segments by their names, without those of projects that are not visible. It scans the
// table.
func (s *Searcher) segmentIDs(ctx context.Context, visible func(project string) bool) (map[string]int64, error) {
	all, err := segmenttable.Scan(ctx, s.client, s.segments)
	ids := map[string]int64{}
	for _, segment := range all {
		if segment.Project == nil || visible(*segment.Project) {
			ids[segment.Name] = segment.ID
		}
	}
	return ids, err
}
