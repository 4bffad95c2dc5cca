package dynamodb

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"toggleadmin/pkg/platform/dynamo"
)

// key returns the encoded key of the item that a request reads or writes.
func (db *DB) key(r *request) string {
	t := db.table(r.TableName)
	if r.Item != nil {
		return t.key(r.Item)
	}
	if len(t.views[0].only(r.Key)) != len(r.Key) {
		panic(invalid("The provided key element does not match the schema"))
	}
	return t.key(r.Key)
}

// plan checks a write. refused is set if its condition does not hold: the item, if the request asks for it.
func (db *DB) plan(operation string, r *request) (c change, refused m) {
	e := r.parse()
	c = change{table: db.table(r.TableName), key: db.key(r)}
	if c.old = c.table.views[0].get(c.key); !e.condition(c.old) {
		if refused = (m{}); c.old != nil && r.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
			refused["Item"] = c.old
		}
		return c, refused
	}
	switch operation {
	case "Put":
		c.next = r.Item
	case "ConditionCheck":
		c.next = c.old
	case "Update":
		if c.next = c.old; c.old == nil {
			c.next = r.Key
		}
		old := c.next
		for _, change := range e.update {
			c.next = change(old, c.next)
		}
		if c.table.key(c.next) != c.key {
			panic(invalid("One or more parameter values were invalid: Cannot update an attribute that is part of the key"))
		}
	case "Delete":
	default:
		panic(invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"))
	}
	if size(dynamo.M(c.next)) > maxItem {
		panic(invalid("Item size has exceeded the maximum allowed size"))
	}
	return c, nil
}

// single carries out PutItem, UpdateItem or DeleteItem.
func (db *DB) single(operation string, r *request) m {
	c, refused := db.plan(operation, r)
	if refused != nil {
		f := failed("ConditionalCheckFailedException", "The conditional request failed")
		maps.Copy(f, refused)
		panic(f)
	}
	response := m{}
	switch {
	case r.ReturnValues == "" || r.ReturnValues == "NONE":
	case r.ReturnValues == "ALL_NEW" && operation == "Update":
		response["Attributes"] = c.next
	default:
		panic(invalid("Return values set to invalid value"))
	}
	db.write(c)
	return response
}

// Limits of actions of a transaction and keys of a batch, and of bytes (DynamoDB Developer Guide, "Quotas").
const (
	maxActions = 100
	maxItem    = 400 << 10
	maxPage    = 1 << 20
)

// transaction was carried out. Its token makes it idempotent for ten minutes.
type transaction struct {
	actions []map[string]*request
	at      time.Time
}

// transact carries out TransactWriteItems.
func (db *DB) transact(r *request) m {
	if n := len(r.TransactItems); n == 0 || n > maxActions {
		panic(invalid("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have " +
			"length between 1 and 100"))
	}
	done, now := db.tokens[r.ClientRequestToken], db.now()
	switch {
	case now.Sub(done.at) >= 10*time.Minute:
	case !reflect.DeepEqual(done.actions, r.TransactItems):
		panic(failed("IdempotentParameterMismatchException",
			"The request uses the same client token as a previous, but non-identical request."))
	default:
		return m{}
	}
	var changes []change
	reasons, canceled := []m{}, false
	for _, action := range r.TransactItems {
		if len(action) != 1 {
			panic(invalid("TransactItems can only contain one of Check, Put, Update or Delete"))
		}
		for operation, one := range action {
			c, reason := db.plan(operation, one)
			if slices.ContainsFunc(changes, func(other change) bool { return other.table == c.table && other.key == c.key }) {
				panic(invalid("Transaction request cannot include multiple operations on one item"))
			}
			if reason == nil {
				reason = m{"Code": "None"}
			} else {
				reason["Code"], canceled = "ConditionalCheckFailed", true
			}
			changes, reasons = append(changes, c), append(reasons, reason)
		}
	}
	if canceled {
		f := failed("TransactionCanceledException", "Transaction canceled")
		f["CancellationReasons"] = reasons
		panic(f)
	}
	for _, c := range changes {
		db.write(c)
	}
	if r.ClientRequestToken != "" {
		db.tokens[r.ClientRequestToken] = transaction{r.TransactItems, now}
	}
	return m{}
}
