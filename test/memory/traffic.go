package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"toggleadmin/pkg/traffic"
)

// Traffic is the table of that name.
type Traffic struct{ *tables }

var _ traffic.Reporter = (*Traffic)(nil)

// Recorder counts batches; an exact one knows every event again, another one every batch.
func (s *Traffic) Recorder(exact bool) traffic.Recorder { return &recorder{s.tables, exact} }

type recorder struct {
	*tables
	exact bool
}

// Record implements traffic.Recorder.
func (r *recorder) Record(ctx context.Context, b *traffic.Batch) (traffic.Recorded, error) {
	var done traffic.Recorded
	err := r.write(ctx, "Traffic.Record", func() error {
		if len(b.Requests) == 0 {
			return nil
		}
		done.Writes = 1
		fresh := b.Requests
		if r.exact {
			fresh = nil
			for _, request := range b.Requests {
				if !r.mark("event#" + request.Event) {
					continue
				}
				fresh = append(fresh, request)
			}
		} else if !r.mark("batch#" + b.ID) {
			fresh = nil
		}
		for _, u := range traffic.Tally(fresh) {
			r.add(u.APIPath, u.Day, u.Counts)
		}
		done.Counted, done.Duplicate = len(fresh), len(b.Requests)-len(fresh)
		return nil
	})
	if err != nil {
		return traffic.Recorded{}, err
	}
	return done, nil
}

// mark says whether the marker is new.
func (r *recorder) mark(marker string) bool {
	known := r.markers[marker]
	r.markers[marker] = true
	return !known
}

type usageKey struct {
	path string
	day  time.Time
}

// Add counts requests of a path on a day, midnight UTC.
func (s *Traffic) Add(path string, day time.Time, c traffic.Counts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(path, day, c)
}

func (t *tables) add(path string, day time.Time, c traffic.Counts) {
	period := day.Format("2006-01")
	if t.traffic[period] == nil {
		t.traffic[period] = map[usageKey]traffic.Counts{}
	}
	sum := t.traffic[period][usageKey{path, day}]
	sum.Successful += c.Successful
	sum.ClientErrors += c.ClientErrors
	sum.ServerErrors += c.ServerErrors
	t.traffic[period][usageKey{path, day}] = sum
}

// Report implements traffic.Reporter.
func (s *Traffic) Report(ctx context.Context, period string) ([]traffic.Usage, error) {
	all := []traffic.Usage{}
	err := s.read(ctx, "Traffic.Report", func() error {
		for at, counts := range s.traffic[period] {
			all = append(all, traffic.Usage{APIPath: at.path, Day: at.day, Counts: counts})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b traffic.Usage) int {
		return cmp.Or(cmp.Compare(a.APIPath, b.APIPath), a.Day.Compare(b.Day))
	})
	return all, nil
}
