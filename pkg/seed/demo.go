package seed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/user"
)

// Credentials are the seeded credentials in plain text, with whose they are. They are the members of local.json.
type Credentials struct {
	APIToken        string           `json:"apiToken"`
	Users           []User           `json:"users"`
	ServiceAccounts []ServiceAccount `json:"serviceAccounts"`
}

// User is a seeded person.
type User struct {
	ID   int64     `json:"id"`
	Name string    `json:"name"`
	Role auth.Role `json:"role"`
	PAT  string    `json:"pat"`
}

// ServiceAccount is a seeded service account. It has no token at first.
type ServiceAccount struct {
	ID   int64     `json:"id"`
	Name string    `json:"name"`
	Role auth.Role `json:"role"`
}

// Result is what Seed has done.
type Result struct {
	Credentials Credentials
	New         bool // the data have been seeded by this call
	Renewed     int  // credentials made by this call
}

var errAtOnce = errors.New("somebody else seeds the same tables at the same time")

// Seed seeds an installation to try on one machine: what every installation has, then people, a service account and toggles, where the
// marker is missing. Then it sees to it that every seeded account has a credential that the caller knows: a known one that is valid is kept,
// else the account's seeded one is revoked and a new one made. Accounts that users have deleted since are left out. It must not run twice
// at the same time on the same tables. Give the context a deadline.
func Seed(ctx context.Context, c Config) (Result, error) {
	s := newSeeder(c)
	var r Result
	_, marked, err := ReadMarker(ctx, c.Client, c.Tables)
	if err != nil {
		return Result{}, err
	}
	if !marked {
		r.New = true
		if err := s.demonstration(ctx); err != nil {
			return Result{}, fmt.Errorf("seed: %w", err)
		}
	}
	if err := s.credentials(ctx, &r); err != nil {
		return Result{}, err
	}
	return r, nil
}

// demonstration writes everything but credentials, and then the marker. What is there already stays as it is.
func (s *seeder) demonstration(ctx context.Context) error {
	people := accounts()
	switch written, err := s.install(ctx, Administrator{Name: people[0].Name, Email: people[0].Email}); {
	case err != nil:
		return err
	case !written:
		return errAtOnce
	}
	for _, u := range people[1:] {
		if err := s.users.Create(ctx, u); err != nil {
			return err
		}
	}
	for _, f := range toggles(datetime.Milliseconds(s.Now())) {
		if err := s.features.Create(ctx, f); err != nil && !errors.Is(err, feature.ErrExists) {
			return err
		}
	}
	if _, err := dynamo.Transact(ctx, s.Client, []types.TransactWriteItem{s.marking(nil)}); err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	return nil
}

// accounts are one person for each root role, the administrator that every installation has first, and a service account without tokens.
// README and scripts know these ids.
func accounts() []user.User {
	return []user.User{
		Administrator{Name: "admin", Email: "admin@example.com"}.account(),
		{ID: 2, Kind: user.Person, Name: "editor", Email: "editor@example.com", Role: auth.RoleEditor},
		{ID: 3, Kind: user.Person, Name: "viewer", Email: "viewer@example.com", Role: auth.RoleViewer},
		{ID: 4, Kind: user.ServiceAccount, Name: "ci", Role: auth.RoleEditor},
	}
}

// toggles are examples of every type, younger and older than their type's lifetime, with constraints on some context fields.
func toggles(now time.Time) []feature.Feature {
	daysAgo := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	return []feature.Feature{
		{Name: "dark-mode", Project: "default", Type: "release", CreatedAt: daysAgo(3), ContextFields: []string{"userId"}},
		{Name: "new-checkout", Project: "shop", Type: "release", CreatedAt: daysAgo(55), ContextFields: []string{"userId", "appName"}},
		{Name: "old-banner", Project: "shop", Type: "release", CreatedAt: daysAgo(300), Archived: true, ContextFields: []string{"environment"}},
		{Name: "legacy-login", Project: "default", Type: "release", CreatedAt: daysAgo(120), Stale: true, ContextFields: []string{"environment"}},
		{Name: "search-ranking", Project: "shop", Type: "experiment", CreatedAt: daysAgo(39), ContextFields: []string{"sessionId"}},
		{Name: "rate-limit", Project: "default", Type: "operational", CreatedAt: daysAgo(8), ContextFields: []string{"appName", "environment"}},
		{Name: "stop-payments", Project: "shop", Type: "kill-switch", CreatedAt: daysAgo(400)},
		{Name: "beta-access", Project: "default", Type: "permission", CreatedAt: daysAgo(200), ContextFields: []string{"userId", "currentTime"}},
	}
}
