package seed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Credentials are the seeded credentials in plain text, with their owners. local.json has the same properties, except
// Disabled.
type Credentials struct {
	APIToken        string           `json:"apiToken"`
	Users           []User           `json:"users"`
	ServiceAccounts []ServiceAccount `json:"serviceAccounts"`
	ClientTokens    []ClientToken    `json:"clientTokens"`
}

// User is a seeded person.
type User struct {
	ID       int64       `json:"id"`
	Name     string      `json:"name"`
	Role     access.Role `json:"role"`
	PAT      string      `json:"pat"`
	Disabled bool        `json:"-"` // the PAT is rejected until the person is enabled
}

// ServiceAccount is a seeded service account. It has no token.
type ServiceAccount struct {
	ID   int64       `json:"id"`
	Name string      `json:"name"`
	Role access.Role `json:"role"`
}

// ClientToken is a seeded client token for all projects.
type ClientToken struct {
	Type        clienttokentable.Type `json:"type"`
	Environment string                `json:"environment"`
	Secret      string                `json:"secret"`
}

// Result is what Seed did.
type Result struct {
	Credentials Credentials
	New         bool // this call seeded the data
	Renewed     int  // the number of credentials that this call made
}

var errConcurrent = errors.New("another process seeds the same tables")

// Seed seeds the local service. If the marker is missing, it writes what every installation needs, people, a service
// account and toggles. In any case the result contains a valid credential of each seeded person that still exists: Seed
// keeps a credential in Config.Known that is valid, and otherwise revokes the seeded one and creates another.
// Concurrent calls on the same tables are not supported. The context requires a deadline.
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

// demonstration writes everything except credentials, and then the marker. It changes nothing that exists.
func (s *seeder) demonstration(ctx context.Context) error {
	people := accounts()
	missing, err := s.missing(ctx, Administrator{Name: people[0].Name, Email: people[0].Email})
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		failures, err := dynamo.Transact(ctx, s.Client, missing)
		if err == nil && failures != nil {
			err = errConcurrent
		}
		if err != nil {
			return err
		}
	}
	now := datetime.Milliseconds(s.Now())
	for _, u := range people[1:] {
		u.CreatedAt = &now
		if err := s.users.Create(ctx, u); err != nil {
			return err
		}
	}
	if err := s.writeProject(ctx, now); err != nil {
		return err
	}
	if s.History {
		if err := s.writeHistory(ctx, now); err != nil {
			return err
		}
	}
	for _, f := range toggles(now) {
		if _, err := s.features.Create(ctx, f); err != nil && apierror.KindOf(err) != apierror.NameExists {
			return err
		}
	}
	if _, err := s.writeMarker(ctx, nil); err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	return nil
}

// writeProject adds the second project of the demonstration.
func (s *seeder) writeProject(ctx context.Context, now time.Time) error {
	p := access.NewProject("shop", "Shop")
	p.Description, p.CreatedAt = new("What customers see"), &now
	table := s.Tables[accesstable.Table]
	_, err := dynamo.Transact(ctx, s.Client, []types.TransactWriteItem{ // nothing fails but that it exists
		dynamo.NewItem(table, accesstable.Hash, accesstable.MarshalProject(p)),
	})
	return err
}

// accounts returns one person for each root role, first the administrator that every installation has, and a service
// account. README and scripts rely on the ids.
func accounts() []user.User {
	return []user.User{
		Administrator{Name: "admin", Email: "admin@example.com"}.account(),
		{ID: 2, Kind: user.Person, Name: "editor", Email: "editor@example.com", Role: access.RoleEditor},
		{ID: 3, Kind: user.Person, Name: "viewer", Email: "viewer@example.com", Role: access.RoleViewer},
		{ID: 4, Kind: user.ServiceAccount, Name: "ci", Username: "ci", Role: access.RoleEditor},
	}
}

// toggles returns examples of every type, younger and older than their type's lifetime, with constraints on all context
// fields except currentTime, which the sample event of delete-context-field deletes.
func toggles(now time.Time) []toggle.Feature {
	daysAgo := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	archived := daysAgo(30)
	return []toggle.Feature{
		{Name: "dark-mode", Project: "default", Type: "release", CreatedAt: daysAgo(3), ContextFields: []string{"userId"}},
		{Name: "new-checkout", Project: "shop", Type: "release", CreatedAt: daysAgo(55),
			ContextFields: []string{"userId", "appName"}},
		{Name: "old-banner", Project: "shop", Type: "release", CreatedAt: daysAgo(300), Archived: true, ArchivedAt: &archived,
			ContextFields: []string{"environment"}},
		{Name: "legacy-login", Project: "default", Type: "release", CreatedAt: daysAgo(120), Stale: true,
			ContextFields: []string{"environment"}},
		{Name: "search-ranking", Project: "shop", Type: "experiment", CreatedAt: daysAgo(39),
			ContextFields: []string{"sessionId"}},
		{Name: "rate-limit", Project: "default", Type: "operational", CreatedAt: daysAgo(8),
			ContextFields: []string{"appName", "environment"}},
		{Name: "stop-payments", Project: "shop", Type: "kill-switch", CreatedAt: daysAgo(400)},
		{Name: "beta-access", Project: "default", Type: "permission", CreatedAt: daysAgo(200),
			ContextFields: []string{"userId"}},
	}
}
