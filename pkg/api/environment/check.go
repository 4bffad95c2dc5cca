package environment

import (
	"context"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/consistency"
)

// Check compares the stored references to the environments with the toggles that are on, which count returns by
// environment. It returns a consistency.Check.
func (s *Store) Check(count func(context.Context) (map[string]references.Counts, error)) consistency.Check {
	checker := references.Checker{
		Store:      s.references,
		Kind:       "environment",
		IsResource: exists,
		Count:      count,
		Restore:    s.Restore,
	}
	return checker.Check
}

// Restore returns the repair that creates an environment in which toggles have a state. The next Check finds that its
// references are wrong.
func (s *Store) Restore(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := s.Create(ctx, Environment{Name: name, Type: name, Last: true})
		return err
	}
}
