// Package tokenexpiry records an event for each token that is about to expire: personal access tokens, and the client
// tokens of applications.
package tokenexpiry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/invocation"
	"toggleadmin/pkg/platform/logging"
)

// Announcer records tokens that are about to expire. It is safe for concurrent use.
type Announcer struct {
	PATs         *pat.Store
	ClientTokens *clienttoken.Store
	Now          func() time.Time
	Logger       *slog.Logger
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

// stopBefore is the time before the deadline of an invocation at which calls end. The remaining time is for logging.
const stopBefore = 2 * time.Second

// token is a token that has reached a threshold since its last event.
type token struct {
	name   string // for the log
	record func(ctx context.Context) error
}

// Announce records an event for each token that has reached a threshold since its last one. It ignores the event that
// invokes it. The event and the token's threshold are one transaction. If the tokens of one kind cannot be read, it
// records those of the other kind.
func (a *Announcer) Announce(ctx context.Context, _ json.RawMessage) (Announcements, error) {
	ctx, cancel := invocation.StopEarly(ctx, stopBefore)
	defer cancel()
	now, failed := a.Now(), false
	var result Announcements
	for _, read := range []func(context.Context, time.Time) ([]token, error){a.pats, a.clientTokens} {
		due, err := read(ctx, now)
		if err != nil {
			failed = true
			a.Logger.ErrorContext(ctx, "tokens cannot be read", logging.Cause(err))
		}
		for _, t := range due {
			if err := a.record(ctx, t); err != nil {
				result.Left++
				a.Logger.ErrorContext(ctx, "expiring token not recorded", slog.String("token", t.name), logging.Cause(err))
				continue
			}
			result.Announced++
		}
	}
	if failed || result.Left > 0 {
		return result, errAnnounce
	}
	return result, nil
}

// record records a threshold of one token.
func (a *Announcer) record(ctx context.Context, t token) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.Timeout, 5*time.Second))
	defer cancel()
	return t.record(ctx)
}

// pats returns the personal access tokens to record.
func (a *Announcer) pats(ctx context.Context, now time.Time) (due []token, err error) {
	all, err := a.PATs.List(ctx)
	for _, p := range all {
		if days := p.DueThreshold(now); days != 0 {
			due = append(due, token{
				name:   string(p.Subject()),
				record: func(ctx context.Context) error { return a.PATs.RecordExpiry(ctx, p, days) },
			})
		}
	}
	return due, err
}

// clientTokens returns the client tokens to record.
func (a *Announcer) clientTokens(ctx context.Context, now time.Time) (due []token, err error) {
	all, err := a.ClientTokens.List(ctx)
	for _, t := range all {
		if days := clienttoken.DueThreshold(t, now); days != 0 {
			due = append(due, token{
				name:   t.ID(),
				record: func(ctx context.Context) error { return a.ClientTokens.RecordExpiry(ctx, t, days) },
			})
		}
	}
	return due, err
}
