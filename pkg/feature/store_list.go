package feature

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"toggleadmin/pkg/dynamo"
)

// List reads all toggles, ordered by name (code points): one Scan per MB, consistent. It is for people, who look rarely; what the service
// itself needs of toggles it finds by an index.
func (s *Store) List(ctx context.Context) ([]Feature, error) {
	var all []Feature
	for item, err := range dynamo.Scan(ctx, s.client, s.features) {
		if err != nil {
			return nil, fmt.Errorf("list toggles: %w", err)
		}
		all = append(all, featureOf(item))
	}
	slices.SortFunc(all, func(a, b Feature) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}
