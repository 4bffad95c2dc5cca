package seed

import (
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// Tables are the names of the tables that are seeded.
type Tables struct {
	FeatureTypes, Features, ContextFields, Users, PersonalAccessTokens, APITokens string
}

// TablesOf takes the tables that are seeded from the names of all, by their logical ids in the template.
func TablesOf(names map[string]string) Tables {
	return Tables{
		FeatureTypes: names["FeatureTypes"], Features: names["Features"], ContextFields: names["ContextFields"],
		Users: names["Users"], PersonalAccessTokens: names["PersonalAccessTokens"], APITokens: names["ApiTokens"],
	}
}

// Config is everything that Initialise and Seed take from outside.
type Config struct {
	Client *dynamodb.Client // made by dynamo.NewClient
	Tables Tables
	Now    func() time.Time
	Random io.Reader   // cryptographically secure
	Known  Credentials // of the demonstration, that the caller has kept from an earlier call; zero: none
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

func newSeeder(c Config) *seeder {
	t := c.Tables
	return &seeder{
		Config:    c,
		types:     featuretype.NewStore(c.Client, t.FeatureTypes),
		fields:    contextfield.NewStore(c.Client, t.ContextFields),
		features:  feature.NewStore(c.Client, t.Features, t.ContextFields),
		users:     user.NewStore(c.Client, t.Users),
		pats:      pat.NewStore(c.Client, t.PersonalAccessTokens, t.Users, c.Random),
		apiTokens: apitoken.NewStore(c.Client, t.APITokens),
		tokens:    authorizer.NewStore(c.Client, t.PersonalAccessTokens, t.Users, t.APITokens),
	}
}
