package stores_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/feedback"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// database is one test's tables on the engine.
type database struct {
	endpoint string
	client   *dynamodb.Client // without faults
	names    map[string]string
	tables   dynamo.Tables
}

func newClient(tb testing.TB, endpoint string, transport http.RoundTripper) *dynamodb.Client {
	tb.Helper()
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), HTTPClient: &http.Client{Transport: transport},
	}, endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

// newTransport gives connections that end with the test.
func newTransport(tb testing.TB, endpoint string) http.RoundTripper {
	tb.Helper()
	client := dynamo.NewHTTPClient(endpoint)
	tb.Cleanup(client.CloseIdleConnections)
	return client.Transport
}

// newDatabase makes fresh tables on the shared engine.
func newDatabase(tb testing.TB) *database {
	tb.Helper()
	return newDatabaseAt(tb, shared.endpoint)
}

func newDatabaseAt(tb testing.TB, endpoint string) *database {
	tb.Helper()
	db := &database{endpoint: endpoint, client: newClient(tb, endpoint, newTransport(tb, endpoint)), names: map[string]string{}}
	prefix := "test-" + rand.Text() + "-"
	mine := append(shared.tables[:0:0], shared.tables...)
	for i := range mine {
		db.names[mine[i].LogicalID] = prefix + mine[i].Name
		mine[i].Name = prefix + mine[i].Name
		mine[i].TTLAttribute = "" // no store depends on it
	}
	db.tables = dynamo.TablesByID(db.names)
	if err := tables.Make(tb.Context(), db.client, mine); err != nil {
		tb.Fatal(err)
	}
	if shared.external {
		tb.Cleanup(func() {
			for _, name := range db.names {
				_, err := db.client.DeleteTable(context.WithoutCancel(tb.Context()), &dynamodb.DeleteTableInput{TableName: &name})
				if err != nil {
					tb.Error(err)
				}
			}
		})
	}
	return db
}

// through gives clients whose requests pass a tap.
func (db *database) through(tb testing.TB, answer func(*call) (*http.Response, error)) (*dynamodb.Client, *tap) {
	tb.Helper()
	t := &tap{next: newTransport(tb, db.endpoint), answer: answer}
	return newClient(tb, db.endpoint, t), t
}

func (db *database) pats(client *dynamodb.Client) *pat.Store {
	return pat.NewStore(client, db.tables, rand.Reader)
}

func (db *database) tokens(client *dynamodb.Client) *authorizer.Store {
	return authorizer.NewStore(client, db.tables)
}

func (db *database) put(tb testing.TB, table string, item dynamo.Item) {
	tb.Helper()
	_, err := db.client.PutItem(tb.Context(), &dynamodb.PutItemInput{TableName: aws.String(db.names[table]), Item: item})
	if err != nil {
		tb.Fatal(err)
	}
}

func (db *database) get(tb testing.TB, table string, key dynamo.Item) dynamo.Item {
	tb.Helper()
	item, err := dynamo.Get(tb.Context(), db.client, db.names[table], key)
	if err != nil {
		tb.Fatal(err)
	}
	return item
}

func (db *database) scan(tb testing.TB, table string) (all []dynamo.Item) {
	tb.Helper()
	for item, err := range dynamo.Scan(tb.Context(), db.client, db.names[table]) {
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, item)
	}
	return all
}

// whole fails the test unless every PAT stands in its owner's map, every entry of a map is a PAT, and no id is above the counter.
func (db *database) whole(tb testing.TB) {
	tb.Helper()
	type place struct {
		userID, id int64
		key        string
	}
	stored, last, highest := map[place]bool{}, int64(0), int64(0)
	for _, item := range db.scan(tb, "PersonalAccessTokens") {
		p := pat.Of(item)
		if p.UserID == 0 {
			last = item.Int("lastId")
			continue
		}
		stored[place{p.UserID, p.ID, pat.DescriptionKey(p.Description)}] = true
		highest = max(highest, p.ID)
	}
	entries := 0
	for _, item := range db.scan(tb, "Users") {
		u := user.Of(item)
		for key, id := range u.PATs {
			if entries++; !stored[place{u.ID, id, key}] {
				tb.Errorf("user %d has a place taken by PAT %d, which is not there", u.ID, id)
			}
		}
	}
	if entries != len(stored) {
		tb.Errorf("%d PATs and %d places taken in their owners' maps", len(stored), entries)
	}
	if highest > last {
		tb.Errorf("PAT %d is above the counter, %d", highest, last)
	}
}

func (db *database) ground(tb testing.TB) *ground {
	tb.Helper()
	c, n, tables := db.client, db.names, db.tables
	return &ground{
		FeatureTypes:  featuretype.NewStore(c, tables),
		ContextFields: contextfield.NewStore(c, tables),
		Feedback:      feedback.NewStore(c, tables),
		Users:         user.NewStore(c, tables),
		PATs:          db.pats(c),
		APITokens:     apitoken.NewStore(c, tables),
		Tokens:        db.tokens(c),
		drop: func(ctx context.Context, id string) error {
			_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(n["FeatureTypes"]), Key: dynamo.Item{"id": dynamo.S(id)}})
			return err
		},
		dropOut: func(tb testing.TB, id int64) {
			tb.Helper()
			_, err := c.DeleteItem(tb.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(n["Users"]), Key: user.Key(id)})
			check(tb, err)
		},
	}
}
