package pat

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"toggleadmin/pkg/dynamo"
)

// List reads the PATs of all accounts, ordered by id, which is the order of their creation: one Scan per MB, consistent.
func (s *Store) List(ctx context.Context) ([]PAT, error) {
	var all []PAT
	for item, err := range dynamo.Scan(ctx, s.client, s.pats) {
		if err != nil {
			return nil, fmt.Errorf("list PATs: %w", err)
		}
		if p := Of(item); p.UserID != 0 { // the partition 0 is the counter's
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b PAT) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// LastID reads the counter: the id of the last PAT that was made, whether or not that is there still; 0 before the first. Consistent.
func (s *Store) LastID(ctx context.Context) (int64, error) {
	counter, err := dynamo.Get(ctx, s.client, s.pats, Key(0, 0))
	if err != nil {
		return 0, fmt.Errorf("read the counter of PATs: %w", err)
	}
	return counter.Int(lastID), nil
}
