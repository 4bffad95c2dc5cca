package seed

import (
	"context"
	"fmt"
	"slices"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/codereference"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

const (
	historyDays = 60
	trafficDays = 31
	useHours    = 24
	rolloutAgo  = 6 * time.Hour // the change of a rollout, which shows in the use
)

// The people who made the changes of the history, and the service account.
//
//nolint:gochecknoglobals // never changed
var (
	admin  = eventlog.Actor{Name: "admin", UserID: 1}
	editor = eventlog.Actor{Name: "editor", UserID: 2}
	ci     = eventlog.Actor{Name: "ci", UserID: 4, IsServiceAccount: true}
)

// history makes the changes of the last 60 days to the seeded toggles and context fields, recorded as made at their
// time, the use of a day and the traffic of a month. A repeated call completes one that was interrupted.
type history struct {
	*seeder
	now    time.Time
	at     time.Time // of the current change
	stores stores
}

type stores struct {
	features *feature.Store
	fields   *contextfield.Store
	segments *segment.Store
	users    *user.Store
	projects *project.Store
	roles    *role.Store
	groups   *group.Store

	tagTypes   *tagtype.Store
	favorites  *favorite.Store
	references *codereference.Store
	access     *accesstable.Reader
	requests   *changerequest.Store
}

// change is a change that an actor made a number of days ago.
type change struct {
	daysAgo int
	by      eventlog.Actor
	make    func(context.Context) error
}

// writeHistory adds toggles, teams and their history.
func (s *seeder) writeHistory(ctx context.Context, now time.Time) error {
	h := &history{seeder: s, now: now}
	at := func() time.Time { return h.at }
	log := eventlog.New(s.Client, s.Tables, at, eventlog.DefaultDays)
	h.stores = stores{
		feature.NewStore(s.Client, s.Tables, log), contextfield.NewStore(s.Client, s.Tables, log),
		segment.NewStore(s.Client, s.Tables, log), user.NewStore(s.Client, s.Tables, log),
		project.NewStore(s.Client, s.Tables, log), role.NewStore(s.Client, s.Tables, log),
		group.NewStore(s.Client, s.Tables, log),
		tagtype.NewStore(s.Client, s.Tables, log), favorite.NewStore(s.Client, s.Tables),
		codereference.NewStore(s.Client, s.Tables, at), accesstable.NewReader(s.Client, s.Tables),
		changerequest.NewStore(s.Client, s.Tables, changerequest.Options{
			Log: log, NewStrategyID: toggle.NewStrategyIDs(at, s.Random),
		}),
	}
	changes := slices.Concat(h.changes(), h.activations(), h.teams(), h.care())
	slices.SortStableFunc(changes, func(a, b change) int { return b.daysAgo - a.daysAgo })
	for i, c := range changes {
		// At different times of the day, which is between 8:00 and 16:00 UTC, and before now.
		h.at = now.AddDate(0, 0, -c.daysAgo).Truncate(24 * time.Hour).Add(8*time.Hour + time.Duration(i*37%480)*time.Minute)
		if c.daysAgo == 0 {
			h.at = now.Add(-rolloutAgo)
		}
		if err := c.make(access.AsOperator(eventlog.WithActor(ctx, c.by))); err != nil {
			return fmt.Errorf("write the history of %d days ago: %w", c.daysAgo, err)
		}
	}
	if err := h.countUse(ctx); err != nil {
		return err
	}
	return h.countRequests(ctx)
}

func (h *history) changes() []change {
	changes := []change{
		{58, admin, h.setLegalValues("environment", "development", "staging", "production")},
		{57, admin, h.setLegalValues("appName", "web", "ios", "android")},
		{48, editor, h.update("new-checkout", func(f *toggle.Feature) {
			f.Description = new("The checkout on one page.")
		})},
		{30, editor, h.update("old-banner", func(f *toggle.Feature) { f.Archived = true })},
		{26, ci, h.update("search-ranking", func(f *toggle.Feature) { f.ImpressionData = true })},
		{20, admin, h.update("legacy-login", func(f *toggle.Feature) { f.Stale = true })},
		{12, editor, h.update("stop-payments", func(f *toggle.Feature) {
			f.Description = new("Stops all payments. Used in the incident runbook.")
		})},
		{1, editor, h.update("dark-mode", func(f *toggle.Feature) {
			f.Description = new("The dark color scheme, for 10 % of users.")
		})},
	}
	descriptions := map[string]string{
		"dark-mode":      "The dark color scheme.",
		"new-checkout":   "The new checkout.",
		"old-banner":     "The banner of the spring sale.",
		"legacy-login":   "The login without single sign-on, until all customers have moved.",
		"search-ranking": "Compares two rankings of the search results.",
		"rate-limit":     "Limits requests while the new database is being filled.",
		"stop-payments":  "Stops all payments.",
		"beta-access":    "Gives customers of the beta program access to new features.",
	}
	for _, f := range toggles(h.now) {
		f.Description, f.CreatedBy = new(descriptions[f.Name]), &toggle.Creator{ID: editor.UserID, Name: editor.Name}
		f.Archived, f.ArchivedAt, f.Stale = false, nil, false // before the changes above
		daysAgo := int(h.now.Sub(f.CreatedAt).Hours() / 24)
		changes = append(changes, change{daysAgo, editor, h.create(f)})
	}
	return changes
}

// create creates a toggle. The log does not contain creations before the history begins.
func (h *history) create(f toggle.Feature) func(context.Context) error {
	return func(ctx context.Context) error {
		store := h.features
		f.Owner = new(owners()[f.Name])
		if f.CreatedAt.After(h.now.AddDate(0, 0, -historyDays)) {
			store, f.CreatedAt = h.stores.features, h.at
		}
		if _, err := store.Create(ctx, f); apierror.KindOf(err) != apierror.NameExists {
			return err
		}
		return nil
	}
}

func (h *history) update(name string, edit func(*toggle.Feature)) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := h.stores.features.Update(ctx, name, func(f toggle.Feature) (toggle.Feature, error) {
			edit(&f)
			return f, nil
		})
		return err
	}
}

func (h *history) setLegalValues(name string, values ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		f, err := h.stores.fields.Get(ctx, name)
		if err != nil {
			return err
		}
		f.LegalValues = nil
		for _, value := range values {
			f.LegalValues = append(f.LegalValues, contextfield.LegalValue{Value: value})
		}
		_, err = h.stores.fields.Replace(ctx, f, func(contextfield.ContextField) error { return nil })
		return err
	}
}

// countRequests counts the requests of a month: fewer on weekends, a few errors of clients, and one day with errors of
// the server.
func (h *history) countRequests(ctx context.Context) error {
	perDay := []struct {
		path     string
		requests int64
	}{
		{"/api/admin/context", 180}, {"/api/admin/feature-types", 320},
		{"/api/admin/projects/{projectId}/features/{featureName}", 540}, {"/api/admin/search/features", 910},
	}
	batch := traffic.Batch{ID: "history"}
	for _, of := range perDay {
		for ago := trafficDays; ago > 0; ago-- {
			day := h.now.UTC().AddDate(0, 0, -ago).Truncate(24 * time.Hour)
			n := of.requests + of.requests*int64(day.YearDay()*7%11)/20
			if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
				n /= 6
			}
			counts := traffic.Counts{Successful: n, ClientErrors: n / 40}
			if ago == 9 {
				counts.ServerErrors = n / 15
			}
			batch.Usage = append(batch.Usage, traffic.Usage{APIPath: of.path, Day: day, Counts: counts})
		}
	}
	if _, err := traffic.NewStore(h.Client, h.Tables).Record(ctx, &batch, h.now); err != nil {
		return fmt.Errorf("count the requests of a month: %w", err)
	}
	return nil
}
