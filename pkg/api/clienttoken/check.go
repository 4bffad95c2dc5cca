package clienttoken

import (
	"context"
	"fmt"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/datetime"
)

// recorded is the last change of a token in the event log.
type recorded struct {
	event   int64
	deleted bool
	expires *time.Time // nil: never
}

// CheckRecorded looks for tokens whose deletion the event log has, or that it has with an earlier expiry. It is a
// consistency.Check. A restored table brings them back. The repairs only withdraw.
func (s *Store) CheckRecorded(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	tokens, err := s.List(ctx) // before the events, so that the log is not behind
	if err != nil {
		return "", nil, err
	}
	last, err := s.recorded(ctx, tokens)
	if err != nil {
		return "", nil, err
	}
	for _, t := range tokens {
		r, known := last[subject(t)]
		name := fmt.Sprintf("the client token %s (%s)", t.Listed(), t.Name)
		switch {
		case !known || !r.deleted && r.event <= t.LastChange: // an announcement can follow the restore
		case r.deleted:
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("%s was revoked at %s", name, datetime.Format(eventlog.TimeOf(r.event))),
				Repair: func(ctx context.Context) error { return apierror.IgnoreNotFound(s.Delete(ctx, t.Listed())) },
			})
		case r.expires != nil && (t.ExpiresAt == nil || r.expires.Before(*t.ExpiresAt)):
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("%s was changed to expire at %s", name, datetime.Format(*r.expires)),
				Repair: func(ctx context.Context) error {
					return apierror.IgnoreNotFound(s.update(ctx, t.Listed(), r.expires, s.log.Now(),
						func(now clienttokentable.Token) bool { return now.LastChange == t.LastChange }))
				},
			})
		}
	}
	return fmt.Sprintf("%d, none of which was revoked or expires later than recorded", len(tokens)), found, nil
}

// recorded returns the last changes of tokens. A deletion is final: a token that was restored and changed afterwards is
// a revoked one.
func (s *Store) recorded(
	ctx context.Context, tokens []clienttokentable.Token,
) (map[eventlog.Subject]recorded, error) {
	var subjects []eventlog.Subject
	for _, t := range tokens {
		subjects = append(subjects, subject(t))
	}
	last := map[eventlog.Subject]recorded{}
	changes := []eventlog.Type{eventlog.APITokenCreated, eventlog.APITokenUpdated, eventlog.APITokenDeleted}
	err := eventlog.NewReader(s.log).About(ctx, subjects, changes, func(e eventlog.Event) error {
		if last[e.Subject].deleted {
			return nil
		}
		r := recorded{event: e.ID, deleted: e.Type == eventlog.APITokenDeleted}
		properties, err := eventlog.Properties(e.Data)
		if err != nil {
			return fmt.Errorf("read the event %d: %w", e.ID, err)
		}
		if text, ok := properties["expiresAt"].(string); ok {
			expires, err := datetime.Parse(text)
			if err != nil {
				return fmt.Errorf("read the event %d: %w", e.ID, err)
			}
			r.expires = &expires
		}
		last[e.Subject] = r
		return nil
	})
	return last, err
}
