package codereference

import (
	"context"
	"fmt"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/consistency"
)

// Check finds reports of projects that do not exist. A restore of one table can leave them. The repair deletes them. It is
// a consistency.Check.
func (s *Store) Check(ctx context.Context) (string, []consistency.Inconsistency, error) {
	all, err := s.All(ctx) // before the projects, so that the project of a new report is among them
	if err != nil {
		return "", nil, err
	}
	projects, err := s.projects.Projects(ctx)
	if err != nil {
		return "", nil, err
	}
	exists := map[string]bool{access.DefaultProject: true}
	for _, p := range projects {
		exists[p.ID] = true
	}
	var found []consistency.Inconsistency
	for _, r := range all {
		if !exists[r.Project] {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the project %q, for which %q reports, does not exist", r.Project, r.Repository),
				Repair: func(ctx context.Context) error { return s.projects.DeleteCodeReferences(ctx, r.Project) },
			})
		}
	}
	return fmt.Sprintf("%d reports, all of projects that exist", len(all)), found, nil
}
