package segment

import (
	"context"
	"fmt"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/usage"
	"toggleadmin/pkg/platform/consistency"
)

// Check compares the stored usage of the segments with the toggles that use them, which count returns by
// segmenttable.Name of their ids. It returns a consistency.Check.
func (s *Store) Check(count func(context.Context) (map[string]usage.Usage, error)) consistency.Check {
	checker := usage.Checker{
		Table:      s.usage,
		Kind:       "segment",
		IsResource: segmenttable.IsSegment,
		Count:      count,
		Steps:      []consistency.Step{{Text: "restore the table Segments, or delete the strategies that use the segment"}},
	}
	return checker.Check
}

// CountFields adds the usage of context fields by segments to counted.
func (s *Store) CountFields(ctx context.Context, counted map[string]usage.Usage) error {
	all, err := s.List(ctx)
	if err != nil {
		return fmt.Errorf("count the usage of context fields: %w", err)
	}
	for _, found := range all {
		for _, name := range constraint.Fields(found.Constraints) {
			u := counted[name]
			u.Segments++
			counted[name] = u
		}
	}
	return nil
}
