package memory

import (
	"context"
	"maps"
	"slices"

	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/feature"
)

// Features is the table of that name.
type Features struct{ *tables }

// Get reads a toggle, or gives feature.ErrNotFound.
func (s *Features) Get(ctx context.Context, name string) (f feature.Feature, err error) {
	err = s.read(ctx, "Features.Get", func() error {
		found, ok := s.features[name]
		if !ok {
			return feature.ErrNotFound
		}
		f = copyFeature(found)
		return nil
	})
	return f, err
}

// Create adds a toggle, not flagged, or gives feature.ErrExists or feature.ErrUnknownContextField.
func (s *Features) Create(ctx context.Context, f feature.Feature) error {
	return s.write(ctx, "Features.Create", func() error {
		if _, exists := s.features[f.Name]; exists {
			return feature.ErrExists
		}
		f = copyFeature(f)
		f.PotentiallyStale = false
		return s.put(feature.Feature{}, f)
	})
}

// Update changes a toggle as feature.Store's Update does. change runs under the lock: it must not call the Memory.
func (s *Features) Update(ctx context.Context, name string, change func(feature.Feature) feature.Feature) (f feature.Feature, err error) {
	err = s.write(ctx, "Features.Update", func() error {
		old, ok := s.features[name]
		if !ok {
			return feature.ErrNotFound
		}
		next := change(copyFeature(old))
		next.Name, next.CreatedAt = old.Name, old.CreatedAt
		next.PotentiallyStale = old.PotentiallyStale && next.Type == old.Type && next.Archived == old.Archived && next.Stale == old.Stale
		next = copyFeature(next)
		f = copyFeature(next)
		return s.put(old, next)
	})
	if err != nil {
		return feature.Feature{}, err
	}
	return f, nil
}

// List reads all toggles, ordered by name.
func (s *Features) List(ctx context.Context) (all []feature.Feature, err error) {
	err = s.read(ctx, "Features.List", func() error {
		for _, name := range slices.Sorted(maps.Keys(s.features)) {
			all = append(all, copyFeature(s.features[name]))
		}
		return nil
	})
	return all, err
}

// Delete deletes a toggle and what it counted for, or gives feature.ErrNotFound.
func (s *Features) Delete(ctx context.Context, name string) error {
	return s.write(ctx, "Features.Delete", func() error {
		old, ok := s.features[name]
		if !ok {
			return feature.ErrNotFound
		}
		gone := old
		gone.ContextFields = nil
		if err := s.put(old, gone); err != nil {
			return err
		}
		delete(s.features, name)
		return nil
	})
}

// Flag sets a toggle's flag, as re-evaluation does.
func (s *Features) Flag(name string, potentiallyStale bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.features[name]
	f.PotentiallyStale = potentiallyStale
	s.features[name] = f
}

// put writes next in old's place, with the usage that it makes of context fields. Only the fields that a step touches must exist.
func (s *Features) put(old, next feature.Feature) error {
	type place struct{ field, project string }
	steps := map[place]int64{}
	count := func(f feature.Feature, by int64) {
		for _, field := range f.ContextFields {
			if at := (place{field, f.Project}); !f.Archived {
				if steps[at] += by; steps[at] == 0 {
					delete(steps, at)
				}
			}
		}
	}
	count(old, -1)
	count(next, +1)
	for at := range steps {
		if _, exists := s.fields[at.field]; !exists {
			return feature.ErrUnknownContextField
		}
	}
	for at, by := range steps {
		s.fields[at.field].Usage[at.project] += by
	}
	s.features[next.Name] = next
	return nil
}

func copyFeature(f feature.Feature) feature.Feature {
	f.ContextFields = slices.Compact(slices.Sorted(slices.Values(f.ContextFields)))
	f.CreatedAt = datetime.Milliseconds(f.CreatedAt)
	return f
}
