package contextfield

import (
	"context"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/datetime"
)

// Check compares the stored references to the context fields with what uses them, which count returns by field. It
// returns a consistency.Check.
func (s *Store) Check(count func(context.Context) (map[string]references.Counts, error)) consistency.Check {
	checker := references.Checker{
		Store:      s.references,
		Kind:       "context field",
		IsResource: IsField,
		Count:      count,
		Restore:    s.restore,
	}
	return checker.Check
}

// restore returns the repair that adds a field without legal values, because what uses it keeps its constraints. The
// next Check finds that its references are wrong.
func (s *Store) restore(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		created := datetime.Milliseconds(s.log.Now())
		_, err := s.Create(ctx, ContextField{Name: name, Last: true, CreatedAt: &created})
		return err
	}
}
