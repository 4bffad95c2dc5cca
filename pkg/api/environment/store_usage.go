package environment

import (
	"context"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/usage"
)

// CountUsage counts the toggles that are on, without archived ones, by environment. Check compares it with what is
// stored. It reads all toggles.
func (s *Store) CountUsage(ctx context.Context) (map[string]usage.Usage, error) {
	rows, err := featuretable.Scan(ctx, s.client, s.features,
		func(row featuretable.Row) bool { return !row.Toggle.Archived && len(row.EnabledIn) > 0 },
		featuretable.AttributeProject, featuretable.AttributeArchived, featuretable.AttributeEnabledIn)
	if err != nil {
		return nil, err
	}
	counted := map[string]usage.Usage{}
	for _, row := range rows {
		for _, name := range row.EnabledIn {
			if counted[name].Counts == nil {
				counted[name] = usage.Usage{Counts: usage.Counts{}}
			}
			counted[name].Counts[row.Toggle.Project]++
		}
	}
	return counted, nil
}
