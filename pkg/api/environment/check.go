package environment

import (
	"context"
	"fmt"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/consistency"
)

// Check compares the stored references to the environments with the toggles that are on, which count returns by
// environment, and looks for protections that are not valid. It returns a consistency.Check.
func (s *Store) Check(count func(context.Context) (map[string]references.Counts, error)) consistency.Check {
	checker := references.Checker{
		Store:      s.references,
		Kind:       "environment",
		IsResource: exists,
		Count:      count,
		Restore:    s.Restore,
	}
	return func(ctx context.Context) (string, []consistency.Inconsistency, error) {
		summary, found, err := checker.Check(ctx)
		if err != nil {
			return summary, found, err
		}
		all, err := s.List(ctx)
		for _, e := range all {
			if invalid := CheckProtection(e.RequiredApprovals, e.Freeze); invalid != nil {
				found = append(found, consistency.Inconsistency{
					Text:   fmt.Sprintf("the environment %q has a protection that is not valid: %v", e.Name, invalid),
					Advice: "replace it: PUT /api/admin/environments/update/NAME, and …/NAME/freeze",
				})
			}
		}
		return summary, found, err
	}
}

// Restore returns the repair that creates an environment in which toggles have a state. The next Check finds that its
// references are wrong.
func (s *Store) Restore(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := s.Create(ctx, Environment{Name: name, Type: name, Last: true})
		return err
	}
}
