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
		items, err := dynamo.GetAll(ctx, s.client, s.table, []dynamo.Item{featuretable.Key(name)},
			featuretable.AttributeCreatedAt, featuretable.AttributeLastSeen)
		if err != nil || len(items) == 0 {
			return true, err
		}
		before := featuretable.DecodeLastSeen(items[0].String(featuretable.AttributeLastSeen))
		next := map[string]time.Time{}
		maps.Copy(next, before)
		for environment, at := range seen {
			if at = at.Truncate(time.Second); at.After(before[environment]) {
				next[environment] = at
			}
		}
		if maps.EqualFunc(before, next, time.Time.Equal) {
			return true, nil
		}
		createdAt := items[0].String(featuretable.AttributeCreatedAt)
		return featuretable.UpdateLastSeen(ctx, s.client, s.table, name, createdAt, before, next)
	})
}
