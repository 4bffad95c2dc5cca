package contextfield

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/usage"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "ContextFields"

// Store keeps the fields in the table ContextFields: one item with each field, one with its usage, and one with the
// version of all fields. It is safe for concurrent use.
type Store struct {
	client   *dynamodb.Client
	table    string
	features string // for checkLoss
	segments string // for checkLoss
	usage    usage.Table
	version  dynamo.TableVersion
	log      *eventlog.Log
}

// NewStore returns a Store on the table ContextFields that records its changes in log, which can be nil if the Store
// only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:   client,
		table:    tables[Table],
		features: tables[featuretable.Table],
		segments: tables[segmenttable.Table],
		usage:    UsageTable(client, tables),
		version:  dynamo.NewTableVersion(client, tables[Table], hash),
		log:      log,
	}
}

// UsageTable returns the usage of fields by their names.
func UsageTable(client *dynamodb.Client, tables dynamo.Tables) usage.Table {
	return usage.NewTable(client, tables[Table], hash)
}
