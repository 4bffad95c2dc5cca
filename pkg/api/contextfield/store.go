package contextfield

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "ContextFields"

// Store keeps the fields in the table ContextFields: one item with each field, one with the references to it, and one
// with the version of all fields. It is safe for concurrent use.
type Store struct {
	client     *dynamodb.Client
	table      string
	features   string // to find what uses a field
	segments   string // to find what uses a field
	references references.Store
	version    dynamo.TableVersion
	log        *eventlog.Log
}

// NewStore returns a Store on the table ContextFields that records its changes in log, which can be nil if the Store
// only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:     client,
		table:      tables[Table],
		features:   tables[featuretable.Table],
		segments:   tables[segmenttable.Table],
		references: ReferencesStore(client, tables),
		version:    dynamo.NewTableVersion(client, tables[Table], hash),
		log:        log,
	}
}

// ReferencesStore returns the references to fields by their names.
func ReferencesStore(client *dynamodb.Client, tables dynamo.Tables) references.Store {
	return references.NewStore(client, tables[Table], hash)
}
