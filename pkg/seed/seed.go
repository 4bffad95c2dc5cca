package seed

import (
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// Config is everything that Initialise and Seed take from outside.
type Config struct {
	Client *dynamodb.Client // made by dynamo.NewClient
	Tables dynamo.Tables
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
	return &seeder{
		Config:    c,
		types:     featuretype.NewStore(c.Client, c.Tables),
		fields:    contextfield.NewStore(c.Client, c.Tables),
		features:  feature.NewStore(c.Client, c.Tables),
		users:     user.NewStore(c.Client, c.Tables),
		pats:      pat.NewStore(c.Client, c.Tables, c.Random),
		apiTokens: apitoken.NewStore(c.Client, c.Tables),
		tokens:    authorizer.NewStore(c.Client, c.Tables),
	}
}
