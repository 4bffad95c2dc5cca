package clienttoken

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/expiry"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
)

// DueThreshold returns the threshold of the expiry of a token that is to be recorded now, as access.DueThreshold.
func DueThreshold(t clienttokentable.Token, now time.Time) int64 {
	if t.ExpiresAt == nil {
		return 0
	}
	return access.DueThreshold(*t.ExpiresAt, t.AnnouncedDays, now)
}

// RecordExpiry is expiry.Record for a token.
func (s *Store) RecordExpiry(ctx context.Context, t clienttokentable.Token, days int64) error {
	token := expiry.Token{
		Table: s.table, Key: clienttokentable.Key(t.Selector), HashName: clienttokentable.Hash, Last: t.LastEvent,
		Change: func(days int64) eventlog.Change { return newExpiring(t, days) },
	}
	if err := expiry.Record(ctx, s.log, token, days); err != nil {
		return fmt.Errorf("record the expiry of the client token %s: %w", t.ID(), err)
	}
	return nil
}

// recordShortLife is expiry.RecordNow for a token. If it returns actions, it sets t.AnnouncedDays and t.LastEvent.
func (s *Store) recordShortLife(ctx context.Context, t *clienttokentable.Token, now time.Time) (
	[]types.TransactWriteItem, error,
) {
	if t.ExpiresAt == nil {
		return nil, nil
	}
	id, actions, err := expiry.RecordNow(ctx, s.log, *t.ExpiresAt, now, newExpiring(*t, access.LastThreshold))
	if actions != nil {
		t.AnnouncedDays, t.LastEvent = access.LastThreshold, id
	}
	return actions, err
}
