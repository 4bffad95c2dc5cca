// Package dynamodb is a fake of DynamoDB in memory, for simulations: each call is atomic, takes microseconds and
// depends on nothing but the calls before it and the clock.
//
// It has the operations, expressions, limits and errors that the service uses. It does not have sets, null, fractions,
// lists in paths, projections of reads, most functions, parallel scans, local secondary indexes, transactional reads,
// capacity and the administration of tables. A request with a member or value that it does not know is a
// SerializationException that names it. It accepts key conditions and overlapping updates that DynamoDB rejects.
// Reserved words are not checked. Calls never conflict, because they follow one another: throttling and conflicts are
// injected in front of it. The tests compare it with the engine of `make run` and with DynamoDB Local.
package dynamodb

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/platform/dynamo"
)

// DB contains tables. It is safe for concurrent use, except that its fields are set before the first call.
type DB struct {
	// Lag returns how long after a write an index shows it, or a read of the table that is not consistent, for which index
	// is empty. Nil: at once. version counts the writes, key is the item's key in an encoded form.
	Lag func(table, index, key string, version int64) time.Duration

	// Written, if set, is called with each change of an item before Do returns. nil: the item does not exist. It must not
	// call the DB.
	Written func(table string, old, next dynamo.Item)

	mu          sync.Mutex
	now         func() time.Time
	tables      map[string]*table
	version     int64
	tokens      []remembered
	expressions map[string]*expression
}

// New returns a database with the tables, without items.
func New(tables []samtemplate.Table, now func() time.Time) *DB {
	db := &DB{now: now, tables: map[string]*table{}, expressions: map[string]*expression{}}
	for _, definition := range tables {
		t := &table{Table: definition}
		for _, x := range definition.Indexes {
			t.indexes = append(t.indexes, &index{Index: x, at: map[string]string{}, last: map[string]time.Time{}})
		}
		db.tables[definition.Name] = t
	}
	return db
}

// request contains the parameters of all operations.
type request struct {
	TableName, IndexName                                                            string
	Key, Item, ExclusiveStartKey, ExpressionAttributeValues                         item
	UpdateExpression, ConditionExpression, KeyConditionExpression, FilterExpression *string
	ExpressionAttributeNames                                                        map[string]string
	ReturnValues, ReturnValuesOnConditionCheckFailure                               string
	ConsistentRead                                                                  bool
	ScanIndexForward                                                                *bool
	Limit                                                                           *int
	Segment, TotalSegments                                                          int
	ClientRequestToken                                                              string
	TransactItems                                                                   []struct {
		Put, Update, Delete,
		ConditionCheck *request
	}
	RequestItems map[string]struct {
		Keys           []item
		ConsistentRead bool
	}

	operation                       string
	condition, keyCondition, filter condition // nil: none
	update                          []action
}

// failure is an error response, and the value of panics while a request is carried out.
type failure struct {
	code, message string
	item          item
	reasons       []failure // of a canceled transaction; without a code: none
}

func invalid(message string) failure { return failure{code: "ValidationException", message: message} }

// Do carries out one call, such as GetItem, and returns the status and the body of DynamoDB's response.
func (db *DB) Do(operation string, body []byte) (status int, response []byte) {
	db.mu.Lock()
	defer db.mu.Unlock()
	f := caught(func() {
		r := decode(body)
		r.operation = operation
		switch operation {
		case "GetItem":
			response = db.getItem(r)
		case "BatchGetItem":
			response = db.batchGetItem(r)
		case "PutItem", "UpdateItem", "DeleteItem":
			response = db.single(r)
		case "TransactWriteItems":
			response = db.transact(r, body)
		case "Query", "Scan":
			response = db.read(r)
		default:
			panic(failure{code: "UnknownOperationException"})
		}
	})
	if f != nil {
		return http.StatusBadRequest, f.append()
	}
	return http.StatusOK, response
}

func decode(body []byte) *request {
	var r request
	if err := jsonv2.Unmarshal(body, &r, jsonv2.RejectUnknownMembers(true)); err != nil {
		panic(failure{code: "SerializationException", message: err.Error()})
	}
	return &r
}

func (f *failure) append() []byte {
	b := quote([]byte(`{"__type":`), "com.amazonaws.dynamodb.v20120810#"+f.code)
	message, codes := f.message, []string{}
	if f.reasons != nil {
		b = append(b, `,"CancellationReasons":[`...)
		for i, reason := range f.reasons {
			if i > 0 {
				b = append(b, ',')
			}
			code := strings.TrimSuffix(reason.code, "Exception")
			switch code {
			case "":
				code = "None"
			case "Validation":
				code = "ValidationError"
			}
			codes = append(codes, code)
			b = quote(append(b, `{"Code":`...), code)
			if reason.message != "" {
				b = quote(append(b, `,"Message":`...), reason.message)
			}
			if reason.item != nil {
				b = reason.item.append(append(b, `,"Item":`...))
			}
			b = append(b, '}')
		}
		b = append(b, ']')
		message = "Transaction canceled, please refer cancellation reasons for specific reasons [" + strings.Join(codes,
			", ") + "]"
	}
	if f.item != nil {
		b = f.item.append(append(b, `,"Item":`...))
	}
	return append(quote(append(b, `,"message":`...), message), '}')
}

func (db *DB) table(name string) *table {
	t := db.tables[name]
	if t == nil {
		panic(failure{code: "ResourceNotFoundException", message: "Requested resource not found"})
	}
	return t
}

func (r *request) scope(i item) *scope {
	return &scope{r.ExpressionAttributeNames, r.ExpressionAttributeValues, i}
}

// compile parses the expressions and checks that they use exactly the names and values of the request.
func (r *request) compile(db *DB) {
	used, given := map[string]bool{}, map[string]bool{}
	parse := func(kind string, text *string) *expression {
		if text == nil {
			return &expression{}
		}
		e := db.parse(kind, *text)
		for _, ref := range e.refs {
			used[ref] = true
		}
		return e
	}
	r.condition = parse("ConditionExpression", r.ConditionExpression).condition
	r.update = parse("UpdateExpression", r.UpdateExpression).actions
	r.keyCondition = parse("KeyConditionExpression", r.KeyConditionExpression).condition
	r.filter = parse("FilterExpression", r.FilterExpression).condition
	for ref := range r.ExpressionAttributeNames {
		given[ref] = true
	}
	for _, a := range r.ExpressionAttributeValues {
		given[a.name] = true
	}
	if !maps.Equal(used, given) {
		panic(invalid(fmt.Sprintf("the expressions use %v, and %v are defined", used, given)))
	}
}
