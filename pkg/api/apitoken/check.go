package apitoken

import (
	"context"
	"fmt"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/datetime"
)

// CheckRecorded looks for tokens whose deletion the event log has. It is a consistency.Check. A restored table brings
// them back.
func (s *Store) CheckRecorded(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	tokens, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	var subjects []eventlog.Subject
	existing := map[eventlog.Subject]APIToken{}
	for _, t := range tokens {
		subjects = append(subjects, t.Subject())
		existing[t.Subject()] = t
	}
	deletions := []eventlog.Type{eventlog.APITokenDeleted}
	err = eventlog.NewReader(s.log).About(ctx, subjects, deletions, func(e eventlog.Event) error {
		t, ok := existing[e.Subject]
		if !ok {
			return nil
		}
		delete(existing, e.Subject) // a token has two deletions if it was restored before
		found = append(found, consistency.Inconsistency{
			Text: fmt.Sprintf("the API token %s (%s) was revoked at %s", t.Selector, t.Name,
				datetime.Format(e.CreatedAt())),
			Repair: func(ctx context.Context) error { return s.Delete(ctx, t.Selector) },
		})
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("%d, none of which was revoked", len(tokens)), found, nil
}
