package database

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/repository"
)

// Database contains the tables of one test. It is safe for concurrent use.
type Database struct {
	Endpoint string
	Client   *dynamodb.Client // without faults
	Tables   dynamo.Tables

	maker *maker
}

// New returns the tables of template.yaml on an engine without other tables (see enginetest.Endpoint). Each is created
// before the first request that names it. They are deleted after the test.
func New(tb testing.TB) *Database {
	tb.Helper()
	template, err := loadTemplate()
	assert.OK(tb, err)
	db := &Database{Endpoint: enginetest.Endpoint(tb)}
	// A busy machine can make the engine slow. Only a test of faults uses a client that gives up (see Through).
	transport := newHTTPTransport(tb, db.Endpoint)
	client, err := dynamo.NewOperatorClient(config(transport), db.Endpoint)
	assert.OK(tb, err)
	db.maker = &maker{client: client, tables: slices.Clone(template.Tables)}
	db.Client, err = dynamo.NewOperatorClient(config(makingTransport{transport, db.maker}), db.Endpoint)
	assert.OK(tb, err)
	db.Tables = template.TableNames()
	return db
}

// Log returns the event log, which keeps events forever.
func (db *Database) Log() *eventlog.Log { return db.LogThrough(db.Client) }

// LogThrough returns the event log for a store that uses another client.
func (db *Database) LogThrough(client *dynamodb.Client) *eventlog.Log {
	return eventlog.New(client, db.Tables, time.Now, 0)
}

var loadTemplate = sync.OnceValues(func() (*samtemplate.Template, error) {
	path, err := repository.File("template.yaml")
	if err != nil {
		return nil, err
	}
	return samtemplate.Load(path, samtemplate.Settings{})
})

// newTransport returns a transport that creates tables.
func (db *Database) newTransport(tb testing.TB) http.RoundTripper {
	tb.Helper()
	return makingTransport{newHTTPTransport(tb, db.Endpoint), db.maker}
}

// newHTTPTransport returns a transport whose connections are closed after the test.
func newHTTPTransport(tb testing.TB, endpoint string) http.RoundTripper {
	tb.Helper()
	client := dynamo.NewHTTPClient(endpoint)
	tb.Cleanup(client.CloseIdleConnections)
	return client.Transport
}

func newClient(tb testing.TB, endpoint string, transport http.RoundTripper) *dynamodb.Client {
	tb.Helper()
	client, err := dynamo.NewClient(config(transport), endpoint)
	assert.OK(tb, err)
	return client
}

func config(transport http.RoundTripper) aws.Config {
	return aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: &http.Client{Transport: transport},
	}
}

// Put writes an item.
func (db *Database) Put(tb testing.TB, table string, item dynamo.Item) {
	tb.Helper()
	_, err := db.Client.PutItem(tb.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item})
	assert.OK(tb, err)
}

// PutAll writes many items with few calls.
func PutAll(tb testing.TB, client *dynamodb.Client, table string, items []dynamo.Item) {
	tb.Helper()
	for batch := range slices.Chunk(items, 25) { // the maximum of a call
		var requests []types.WriteRequest
		for _, item := range batch {
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		out, err := client.BatchWriteItem(tb.Context(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: requests}})
		assert.OK(tb, err)
		assert.Equal(tb, 0, len(out.UnprocessedItems))
	}
}

// Delete deletes an item.
func (db *Database) Delete(tb testing.TB, table string, key dynamo.Item) {
	tb.Helper()
	_, err := db.Client.DeleteItem(tb.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key})
	assert.OK(tb, err)
}

// Get reads an item. It returns nil if the item does not exist.
func (db *Database) Get(tb testing.TB, table string, key dynamo.Item) dynamo.Item {
	tb.Helper()
	item, err := dynamo.Get(tb.Context(), db.Client, table, key)
	assert.OK(tb, err)
	return item
}

// Scan reads all items of a table.
func (db *Database) Scan(tb testing.TB, table string) (all []dynamo.Item) {
	tb.Helper()
	for item, err := range dynamo.Scan(tb.Context(), db.Client, table) {
		assert.OK(tb, err)
		all = append(all, item)
	}
	return all
}
