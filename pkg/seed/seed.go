package seed

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// Config contains the dependencies and options of Initialize and Seed.
type Config struct {
	Client *dynamodb.Client // made by dynamo.NewClient
	Tables dynamo.Tables
	Log    *eventlog.Log // records the initialization alone
	Now    func() time.Time
	Random io.Reader // cryptographically secure

	MaxTokenDays int         // from the creation to the expiry of a token; 0: no limit
	History      bool        // Seed also makes changes of the last 60 days, and the traffic of a month
	Known        Credentials // credentials that the caller has kept from an earlier Seed; Initialize ignores them
}

type seeder struct {
	Config
	types        *featuretype.Store
	fields       *contextfield.Store
	environments *environment.Store
	features     *feature.Store
	users        *user.Store
	pats         *pat.Store
	apiTokens    *apitoken.Store
	clientTokens *clienttoken.Store
}

func newSeeder(c Config) *seeder {
	log := eventlog.Discard(c.Client, c.Now)
	return &seeder{
		Config:       c,
		types:        featuretype.NewStore(c.Client, c.Tables, log),
		fields:       contextfield.NewStore(c.Client, c.Tables, log),
		environments: environment.NewStore(c.Client, c.Tables, log),
		features:     feature.NewStore(c.Client, c.Tables, log),
		users:        user.NewStore(c.Client, c.Tables, log),
		pats:         pat.NewStore(c.Client, c.Tables, log, c.Random),
		apiTokens:    apitoken.NewStore(c.Client, c.Tables, log),
		clientTokens: clienttoken.NewStore(c.Client, c.Tables, log),
	}
}

// expiry returns when a new token expires that should expire after a number of years; 0: never.
func (c *Config) expiry(now time.Time, years int) *time.Time {
	latest, limited := access.LatestExpiry(now, c.MaxTokenDays)
	if wanted := now.AddDate(years, 0, 0); years != 0 && (!limited || wanted.Before(latest)) {
		return &wanted
	}
	if limited {
		return &latest
	}
	return nil
}

// The marker is an item of PersonalAccessTokens in the partition of user 0, which does not exist. This
// partition also has the counter of ids.
const (
	markerUser, markerID = 0, 1
	attributeSeededAt    = "seededAt"
	attributeAPIToken    = "apiToken"
)

// Marker records that tables are seeded.
type Marker struct {
	At       time.Time
	APIToken string // the selector of the API token that Initialize made; Seed leaves it empty
}

// ReadMarker reads the marker by one GetItem. ok is false if there is none: the tables are empty or partly seeded.
func ReadMarker(ctx context.Context, client *dynamodb.Client, t dynamo.Tables) (m Marker, ok bool, err error) {
	item, err := dynamo.Get(ctx, client, t[pat.Table], pat.Key(markerUser, markerID))
	if err != nil {
		return Marker{}, false, fmt.Errorf("read the seed marker: %w", err)
	}
	if at := item.Time(attributeSeededAt); at != nil {
		m = Marker{At: *at, APIToken: item.String(attributeAPIToken)}
	}
	return m, item != nil, nil
}

// writeMarker writes the marker and records the initialization, in one transaction with other actions. written is false
// if there is a marker, or if one of the others fails. token may be nil.
func (s *seeder) writeMarker(ctx context.Context, token *access.Selector,
	others ...types.TransactWriteItem) (written bool, err error) {
	item := pat.Key(markerUser, markerID)
	item[attributeSeededAt] = dynamo.Time(s.Now())
	data := struct {
		APIToken *string `json:"apiToken"` // its id
	}{}
	if token != nil {
		item[attributeAPIToken] = dynamo.S(token.String())
		data.APIToken = new(token.String())
	}
	marker := dynamo.NewItem(s.Tables[pat.Table], "userId", item)
	failures, err := s.Log.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		_, record, err := s.Log.RecordActions(ctx, eventlog.Change{
			Type: eventlog.InstallationInitialized, Subject: "installation:toggleadmin", Data: data,
		})
		return slices.Concat(others, []types.TransactWriteItem{marker}, record), err
	})
	return err == nil && failures == nil, err
}
