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

type usageKey struct {
	path string
	day  time.Time
}

// Add counts requests of a path on a day, midnight UTC.
func (s *Traffic) Add(path string, day time.Time, c traffic.Counts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	period := day.Format("2006-01")
	if s.traffic[period] == nil {
		s.traffic[period] = map[usageKey]traffic.Counts{}
	}
	sum := s.traffic[period][usageKey{path, day}]
	sum.Successful += c.Successful
	sum.ClientErrors += c.ClientErrors
	sum.ServerErrors += c.ServerErrors
	s.traffic[period][usageKey{path, day}] = sum
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
