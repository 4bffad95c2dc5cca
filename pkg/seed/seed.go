package seed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// Tables are the names of the tables that are seeded.
type Tables struct {
	FeatureTypes, Features, ContextFields, Users, PersonalAccessTokens, APITokens string
}

// Config is everything that Seed takes from outside.
type Config struct {
	Client *dynamodb.Client // made by dynamo.NewClient
	Tables Tables
	Now    func() time.Time
	Random io.Reader   // cryptographically secure
	Known  Credentials // that the caller has kept from an earlier call; zero: none
}

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

type seeder struct {
	Config
	types     *featuretype.Store
	fields    *contextfield.Store
	features  *feature.Store
	users     *user.Store
	pats      *pat.Store
	apiTokens *apitoken.Store
	tokens    *authorizer.Store
}

// Seed seeds the data where the marker is missing, then sees to it that every seeded account has a credential that the caller
// knows: a known one that is valid is kept, else the account's seeded one is revoked and a new one made. Accounts that users have deleted
// since are left out. It must not run twice at the same time on the same tables. Give the context a deadline.
func Seed(ctx context.Context, c Config) (Result, error) {
	t := c.Tables
	s := &seeder{
		Config:    c,
		types:     featuretype.NewStore(c.Client, t.FeatureTypes),
		fields:    contextfield.NewStore(c.Client, t.ContextFields),
		features:  feature.NewStore(c.Client, t.Features, t.ContextFields),
		users:     user.NewStore(c.Client, t.Users),
		pats:      pat.NewStore(c.Client, t.PersonalAccessTokens, t.Users, c.Random),
		apiTokens: apitoken.NewStore(c.Client, t.APITokens),
		tokens:    authorizer.NewStore(c.Client, t.PersonalAccessTokens, t.Users, t.APITokens),
	}
	var r Result
	marked, err := s.marked(ctx)
	if err != nil {
		return Result{}, err
	}
	if !marked {
		r.New = true
		if err := s.data(ctx); err != nil {
			return Result{}, err
		}
		if err := s.mark(ctx); err != nil {
			return Result{}, err
		}
	}
	if err := s.credentials(ctx, &r); err != nil {
		return Result{}, err
	}
	return r, nil
}

// data writes everything but credentials. What is there already stays as it is.
func (s *seeder) data(ctx context.Context) error {
	now := datetime.Milliseconds(s.Now())
	for _, t := range featuretype.Defaults() {
		if err := s.types.Create(ctx, t); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	for _, f := range contextfield.Defaults(now) {
		if err := s.fields.Create(ctx, f); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	for _, u := range accounts() {
		if err := s.users.Create(ctx, u); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	for _, f := range toggles(now) {
		if err := s.features.Create(ctx, f); err != nil && !errors.Is(err, feature.ErrExists) {
			return fmt.Errorf("seed: %w", err)
		}
	}
	return nil
}

// The marker is an item of the partition that no user's tokens are in, beside the counter of ids (pat.Key(0, 0)).
const (
	markerUser, markerID = 0, 1
	attributeSeededAt    = "seededAt"
)

func (s *seeder) marked(ctx context.Context) (bool, error) {
	item, err := dynamo.Get(ctx, s.Client, s.Tables.PersonalAccessTokens, pat.Key(markerUser, markerID))
	if err != nil {
		return false, fmt.Errorf("look for the seed's marker: %w", err)
	}
	return item != nil, nil
}

func (s *seeder) mark(ctx context.Context) error {
	item := pat.Key(markerUser, markerID)
	item[attributeSeededAt] = dynamo.Time(s.Now())
	err := dynamo.PutNew(ctx, s.Client, s.Tables.PersonalAccessTokens, "userId", item)
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("write the seed's marker: %w", err)
	}
	return nil
}
