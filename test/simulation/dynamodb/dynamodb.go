// Package dynamodb is a fake of DynamoDB in memory, for simulations: each call is atomic, takes microseconds and
// depends on nothing but the calls before it and the clock.
//
// It has the operations, expressions, limits and errors that the service uses. It does not have sets, null, fractions,
// lists in paths, projections of reads of single items, most functions and operators, local secondary indexes,
// transactional reads, capacity and the administration of tables; DescribeTable returns the names of the keys only. A
// request with a member or value that it does not know is a SerializationException that names it. It accepts key
// conditions and overlapping updates that DynamoDB rejects, and reads the update of a write only if its condition
// holds. Reserved words are not checked. Calls never conflict, because they follow one another: throttling and
// conflicts are injected in front of it. The tests compare it with the engine of `make run` and with DynamoDB Local.
package dynamodb

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
)

// DB contains tables. It is not safe for concurrent use.
type DB struct {
	// Lag returns how long after a write an index shows it, or a read of the table that is not consistent, for which index
	// is empty. version counts the writes, key is the item's key in an encoded form. nil: at once.
	Lag func(table, index, key string, version int64) time.Duration

	// Page is the maximum number of items that a Query or Scan reads, and of keys that a BatchGetItem processes, as if
	// they were large. 0: only DynamoDB's own limits apply.
	Page int

	// Written is called with each change of an item before Do returns. nil: the item does not exist. It must not call the
	// DB or change the items. It can be nil.
	Written func(table string, old, next item)

	now     func() time.Time
	tables  map[string]*table
	version int64
	tokens  map[string]transaction
}

// New returns a database with the tables, without items, whose indexes do not lag.
func New(tables []samtemplate.Table, now func() time.Time) *DB {
	db := &DB{now: now, tables: map[string]*table{}, tokens: map[string]transaction{}}
	for _, definition := range tables {
		db.create(definition)
	}
	return db
}

// Copy creates a table with the keys and the items of another one, as a restore to a point in time does.
func (db *DB) Copy(name, copied string) {
	definition := db.table(name).Table
	definition.Name = copied
	db.create(definition).states = maps.Clone(db.table(name).states)
}

// m is a JSON object.
type m = map[string]any

// request contains the parameters of all operations.
type request struct {
	TableName, IndexName, Select                                                    string
	Key, Item, ExclusiveStartKey, ExpressionAttributeValues                         item
	UpdateExpression, ConditionExpression, KeyConditionExpression, FilterExpression expression
	ProjectionExpression                                                            expression
	ExpressionAttributeNames                                                        map[string]string
	ReturnValues, ReturnValuesOnConditionCheckFailure                               string
	ConsistentRead, ScanIndexForward                                                bool
	Limit, Segment, TotalSegments                                                   int
	ClientRequestToken                                                              string
	TransactItems                                                                   []map[string]*request
	RequestItems                                                                    map[string]*request
	Keys                                                                            []item
}

// failure is an error response, and the value of panics while a request is carried out.
type failure m

// fail ends a call with an error that has details.
func fail(code, message string, details m) {
	f := failure{"__type": "com.amazonaws.dynamodb.v20120810#" + code, "message": message}
	maps.Copy(f, details)
	panic(f)
}

// require ends a call with a ValidationException unless a condition is met.
func require(met bool, message string) {
	if !met {
		fail("ValidationException", message, nil)
	}
}

// Do carries out one call, such as GetItem, and returns the status and the body of DynamoDB's response.
func (db *DB) Do(operation string, body []byte) (status int, response []byte) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			status, response = http.StatusBadRequest, marshal(f)
		default:
			panic(f)
		}
	}()
	r := request{ScanIndexForward: true, Limit: math.MaxInt}
	if err := jsonv2.Unmarshal(body, &r, format); err != nil {
		fail("SerializationException", err.Error(), nil)
	}
	return http.StatusOK, marshal(db.operation(operation, &r))
}

func marshal(v any) []byte {
	b, err := jsonv2.Marshal(v, format)
	if err != nil {
		panic(err)
	}
	return b
}

func (db *DB) operation(name string, r *request) m {
	switch name {
	case "GetItem":
		return db.getItem(r)
	case "BatchGetItem":
		return db.batchGetItem(r)
	case "PutItem", "UpdateItem", "DeleteItem":
		return db.single(strings.TrimSuffix(name, "Item"), r)
	case "TransactWriteItems":
		return db.transact(r)
	case "Query", "Scan":
		return db.read(name, r)
	case "DescribeTable":
		return m{"Table": m{"KeySchema": db.table(r.TableName).schema()}}
	}
	fail("UnknownOperationException", name, nil)
	return nil
}

func (db *DB) table(name string) *table {
	t := db.tables[name]
	if t == nil {
		fail("ResourceNotFoundException", "Requested resource not found", nil)
	}
	return t
}

// Items returns the items of a table in the order of a Scan. They must not be changed.
func (db *DB) Items(table string) (all []dynamo.Item) {
	_, rows := db.rows(&request{TableName: table, ConsistentRead: true})
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, rows[key])
	}
	return all
}

// Records returns at most limit records of a table's stream from a position on, in the order of the writes, as the JSON
// that Lambda passes to a function, without what functions do not use, and their number. The first record has the
// position 0 and the sequence number 1. The stream has one shard.
func (db *DB) Records(table string, from, limit int) (event []byte, n int) {
	t, all := db.table(table), []m{}
	for i, c := range t.changes[from:min(from+limit, len(t.changes))] {
		name, keys := "MODIFY", c.next
		switch {
		case c.old == nil:
			name = "INSERT"
		case c.next == nil:
			name, keys = "REMOVE", c.old
		}
		all = append(all, m{"eventName": name, "dynamodb": struct {
			Keys                        item
			OldImage, NewImage          item `json:",omitzero"`
			ApproximateCreationDateTime int64
			SequenceNumber              string
		}{t.views[0].only(keys), c.old, c.next, c.at.Unix(), fmt.Sprintf("%021d", from+i+1)}})
	}
	return marshal(m{"Records": all}), len(all)
}
