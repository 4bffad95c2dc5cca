package pat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/platform/logging"
)

// Announcer records tokens that are about to expire. It is safe for concurrent use.
type Announcer struct {
	Store  *Store
	Now    func() time.Time
	Logger *slog.Logger
	// Timeout limits the time to record one token, so that one that conflicts does not use the time of the others. The
	// default is 5 seconds.
	Timeout time.Duration
}

// Announcements is the response of a run, for manual invocations.
type Announcements struct {
	Announced int `json:"announced"`
	Left      int `json:"left"` // tokens that could not be recorded
}

var errAnnounce = errors.New("expiring tokens were not recorded, see the log for the cause; the next run records them")

// Announce records an event for each token that has reached a threshold since its last one. It ignores the event that
// invokes it. The event and the token's threshold are one transaction.
func (a *Announcer) Announce(ctx context.Context, _ json.RawMessage) (Announcements, error) {
	ctx, cancel := lambdahttp.StopEarly(ctx, stopBefore)
	defer cancel()
	all, err := a.Store.List(ctx)
	if err != nil {
		a.Logger.ErrorContext(ctx, "tokens cannot be read", logging.Cause(err))
		return Announcements{}, errAnnounce
	}
	now := a.Now()
	var result Announcements
	for _, p := range slices.DeleteFunc(all, func(p PAT) bool { return p.dueThreshold(now) == 0 }) {
		if err := a.record(ctx, p, p.dueThreshold(now)); err != nil {
			result.Left++
			a.Logger.ErrorContext(ctx, "expiring token not recorded", slog.Int64("id", p.ID), logging.Cause(err))
			continue
		}
		result.Announced++
	}
	if result.Left > 0 {
		return result, errAnnounce
	}
	return result, nil
}

// record records a threshold of one token.
func (a *Announcer) record(ctx context.Context, p PAT, days int64) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.Timeout, 5*time.Second))
	defer cancel()
	return a.Store.RecordExpiry(ctx, p, days)
}

// stopBefore is the time before the deadline of an invocation at which calls end. The remaining time is for logging.
const stopBefore = 2 * time.Second

// shortLife is the time between two runs. A token with a shorter lifetime may be created and expire between them.
const shortLife = time.Hour

// thresholds are the numbers of days before its expiry at which a token is announced, in ascending order.
var thresholds = [...]int64{1, 7, 14}

const day = 24 * time.Hour

// dueThreshold returns the lowest threshold that the token has reached, or 0 if there is none, if it was recorded, or if
// the token has expired.
func (p PAT) dueThreshold(now time.Time) int64 {
	if p.Expired(now) {
		return 0
	}
	for _, days := range thresholds {
		if days == p.AnnouncedDays {
			break
		}
		if !now.Before(p.ExpiresAt.Add(-time.Duration(days) * day)) {
			return days
		}
	}
	return 0
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
