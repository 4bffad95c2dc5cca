package pat

import (
	"context"
	"fmt"
	"time"

	"toggleadmin/pkg/api/expiry"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
)

// RecordExpiry is expiry.Record for a token.
func (s *Store) RecordExpiry(ctx context.Context, p PAT, days int64) error {
	t := expiry.Token{Table: s.pats, Key: Key(p.UserID, p.ID), HashName: hash, Last: p.LastEvent, Change: p.expiring}
	if err := expiry.Record(ctx, s.log, t, days); err != nil {
		return fmt.Errorf("record the expiry of PAT %d: %w", p.ID, err)
	}
	return nil
}

// DueThreshold returns the threshold of its expiry that is to be recorded now, as access.DueThreshold.
func (p PAT) DueThreshold(now time.Time) int64 {
	return access.DueThreshold(p.ExpiresAt, p.AnnouncedDays, now)
}

// expiring returns the record of a threshold.
func (p PAT) expiring(days int64) eventlog.Change {
	return p.change(eventlog.TokenExpiring, struct {
		ID          int64  `json:"id"`
		UserID      int64  `json:"userId"`
		Description string `json:"description"`
		ExpiresAt   string `json:"expiresAt"`
		Days        int64  `json:"days"` // the threshold that was reached: 14, 7 or 1
	}{p.ID, p.UserID, p.Description, datetime.Format(p.ExpiresAt), days}, nil)
}
