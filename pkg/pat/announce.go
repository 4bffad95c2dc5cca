package pat

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/event"
)

// NewAnnounceFunction returns the handler of functions/announce-expiring-tokens.
func NewAnnounceFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("PERSONAL_ACCESS_TOKENS_TABLE")
	if err != nil {
		return nil, err
	}
	bus, busErr := env.Var("EVENT_BUS")
	source, sourceErr := env.Var("EVENT_SOURCE")
	cfg, cfgErr := env.AWSConfig()
	if err := errors.Join(busErr, sourceErr, cfgErr); err != nil {
		return nil, err
	}
	a := &Announcer{
		Store: NewStore(client, tables, env.Random), Publisher: event.NewPublisher(cfg, bus, env.Logger), Source: source,
		Now: env.Now, Logger: env.Logger,
	}
	return app.Event(a.Announce), nil
}

// Announcer announces the expiry of tokens. It is safe for concurrent use.
type Announcer struct {
	Store     *Store
	Publisher event.Publisher
	Source    string // of the events
	Now       func() time.Time
	Logger    *slog.Logger
}

// Announcements is the response of a run, for callers that invoke it by hand.
type Announcements struct {
	Announced int `json:"announced"`
	Left      int `json:"left"` // tokens whose announcement failed
}

var errAnnounce = errors.New("tokens were not announced, see the log for the cause; the next run announces them")

// Announce sends an event for each token that has reached a threshold since its last announcement. It ignores the event that invokes it. A
// token is marked after the bus has stored its event. If the run ends in between, the next run sends the event again, with the same id.
func (a *Announcer) Announce(ctx context.Context, _ json.RawMessage) (Announcements, error) {
	all, err := a.Store.List(ctx)
	if err != nil {
		a.Logger.ErrorContext(ctx, "tokens cannot be read", slog.Any("cause", err))
		return Announcements{}, errAnnounce
	}
	now := a.Now()
	due := slices.DeleteFunc(all, func(p PAT) bool { return p.dueThreshold(now) == 0 })
	var result Announcements
	for batch := range slices.Chunk(due, event.MaxBatch) {
		events := make([]event.Event, len(batch))
		for i, p := range batch {
			events[i] = p.expiring(a.Source, p.dueThreshold(now))
		}
		for i, err := range a.Publisher.Publish(ctx, events) {
			if err == nil {
				err = a.Store.Announced(ctx, batch[i], batch[i].dueThreshold(now))
			}
			if err == nil {
				result.Announced++
				continue
			}
			result.Left++
			a.Logger.ErrorContext(ctx, "expiring token not announced", slog.Int64("id", batch[i].ID), slog.Any("cause", err))
		}
	}
	if result.Left > 0 {
		return result, errAnnounce
	}
	return result, nil
}

// thresholds are the numbers of days before its expiry at which a token is announced, in ascending order.
var thresholds = [...]int64{1, 7, 14}

const day = 24 * time.Hour

// dueThreshold returns the lowest threshold that the token has reached, or 0 if there is none, or if it was announced at that threshold. A
// token that has expired is announced only if an announcement came before: otherwise the first run would announce every token that ever
// expired.
func (p PAT) dueThreshold(now time.Time) int64 {
	if p.Expired(now) && p.AnnouncedDays == 0 {
		return 0
	}
	for _, days := range thresholds {
		if !now.Before(p.ExpiresAt.Add(-time.Duration(days) * day)) {
			if p.AnnouncedDays == 0 || days < p.AnnouncedDays {
				return days
			}
			return 0
		}
	}
	return 0
}

// expiring returns the event for a threshold. Its sequence and time do not depend on when it is sent.
func (p PAT) expiring(source string, days int64) event.Event {
	reached := p.ExpiresAt.Add(-time.Duration(days) * day)
	at := reached
	if at.Before(p.CreatedAt) {
		at = p.CreatedAt
	}
	return event.New(source, event.TokenExpiring, strconv.FormatInt(p.ID, 10), reached.UnixMilli(), at, event.Token{
		ID: p.ID, UserID: p.UserID, Description: p.Description, ExpiresAt: datetime.Format(p.ExpiresAt), Days: days,
	})
}
