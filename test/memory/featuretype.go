package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"toggleadmin/pkg/featuretype"
)

// FeatureTypes is the table of that name.
type FeatureTypes struct{ *tables }

var (
	_ featuretype.Getter         = (*FeatureTypes)(nil)
	_ featuretype.Lister         = (*FeatureTypes)(nil)
	_ featuretype.LifetimeSetter = (*FeatureTypes)(nil)
)

// List implements featuretype.Lister.
func (s *FeatureTypes) List(ctx context.Context) (all []featuretype.FeatureType, err error) {
	err = s.read(ctx, "FeatureTypes.List", func() error {
		for _, t := range s.types {
			all = append(all, copyType(t))
		}
		return nil
	})
	slices.SortFunc(all, func(a, b featuretype.FeatureType) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

// Get implements featuretype.Getter.
func (s *FeatureTypes) Get(ctx context.Context, id string) (t featuretype.FeatureType, err error) {
	err = s.read(ctx, "FeatureTypes.Get", func() error {
		found, ok := s.types[id]
		if !ok {
			return featuretype.ErrNotFound
		}
		t = copyType(found)
		return nil
	})
	return t, err
}

// SetLifetime implements featuretype.LifetimeSetter.
func (s *FeatureTypes) SetLifetime(ctx context.Context, id string, days *int64) (t featuretype.FeatureType, err error) {
	err = s.write(ctx, "FeatureTypes.SetLifetime", func() error {
		found, ok := s.types[id]
		if !ok {
			return featuretype.ErrNotFound
		}
		found.LifetimeDays = days
		s.types[id] = copyType(found)
		t = copyType(found)
		return nil
	})
	return t, err
}

// Create adds a type that is not there yet; one that is stays as it is.
func (s *FeatureTypes) Create(ctx context.Context, t featuretype.FeatureType) error {
	return s.write(ctx, "FeatureTypes.Create", func() error {
		if _, exists := s.types[t.ID]; !exists {
			s.types[t.ID] = copyType(t)
		}
		return nil
	})
}

// Delete removes a type, which no store does.
func (s *FeatureTypes) Delete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.types, id)
}

func copyType(t featuretype.FeatureType) featuretype.FeatureType {
	if t.LifetimeDays != nil {
		t.LifetimeDays = new(*t.LifetimeDays)
	}
	return t
}

func copyMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}
