package memory

import (
	"cmp"
	"context"
	"slices"

	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/feature"
)

// pageSize is the toggles of a page: few, so that there are pages.
const pageSize = 3

// Due reads a page of a range as feature.FlagStore's Due does.
func (s *Features) Due(ctx context.Context, r feature.Range, after *feature.Indexed) (page feature.Page, err error) {
	err = s.read(ctx, "Features.Due", func() error {
		var all []feature.Indexed
		for _, f := range s.features {
			if t := (feature.Indexed{Name: f.Name, CreatedAt: datetime.Format(f.CreatedAt)}); in(r, f) && (after == nil || order(t, *after) > 0) {
				all = append(all, t)
			}
		}
		slices.SortFunc(all, order)
		if page.Toggles = all; len(all) > pageSize {
			page.Toggles, page.Next = all[:pageSize], &all[pageSize-1]
		}
		return nil
	})
	return page, err
}

func order(a, b feature.Indexed) int {
	return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Name, b.Name))
}

// in says whether a toggle is in a range.
func in(r feature.Range, f feature.Feature) bool {
	if f.Type != r.Type || f.Archived || f.Stale || f.PotentiallyStale != r.PotentiallyStale || feature.Shard(f.Name) != r.Shard {
		return false
	}
	return r.Cutoff == nil || f.CreatedAt.After(*r.Cutoff) == r.PotentiallyStale
}

// Flip flips a toggle as feature.FlagStore's Flip does.
func (s *Features) Flip(ctx context.Context, r feature.Range, t feature.Indexed) (flipped bool, err error) {
	r.Cutoff = nil // an index key knows the type, the flag and the shard
	err = s.write(ctx, "Features.Flip", func() error {
		f, exists := s.features[t.Name]
		if !exists || !in(r, f) || datetime.Format(f.CreatedAt) != t.CreatedAt {
			return nil
		}
		f.PotentiallyStale = !f.PotentiallyStale
		s.features[t.Name] = f
		flipped = true
		return nil
	})
	return flipped && err == nil, err
}
