package feature

import (
	"context"
	"maps"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/dynamo"
)

// AddLastSeen stores when applications used a toggle before it was imported, by environment, where no later time
// is stored. It records no event. It changes nothing if the toggle does not exist. Otherwise only the sweep of the
// usage stores these times.
func (s *Store) AddLastSeen(ctx context.Context, name string, seen map[string]time.Time) error {
	return dynamo.Retry(ctx, func() (done bool, err error) {
		stored, err := featuretable.GetSeen(ctx, s.client, s.table, []string{name})
		before, exists := stored[name]
		if err != nil || !exists {
			return true, err
		}
		last := maps.Clone(before.Last)
		for environment, at := range seen {
			if at = at.Truncate(time.Second); at.After(last[environment]) {
				last[environment] = at
			}
		}
		if maps.EqualFunc(before.Last, last, time.Time.Equal) {
			return true, nil
		}
		_, done, err = featuretable.UpdateSeen(ctx, s.client, s.table, name, before, last)
		return done, err
	})
}
