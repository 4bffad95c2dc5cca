package dynamodb

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"toggleadmin/pkg/platform/dynamo"
)

// plan checks a write. refused is set if its condition does not hold: the item, if the request asks for it.
func (db *DB) plan(operation string, r *request) (c change, refused m) {
	r.check()
	if c = db.find(r, true); !r.holds(r.ConditionExpression, c.old) {
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
		c.next = r.updated(c.next)
		require(c.table.key(c.next) == c.key,
			"One or more parameter values were invalid: Cannot update an attribute that is part of the key")
	default:
		require(operation == "Delete",
			"Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
	}
	require(size(dynamo.M(c.next)) <= maxItem, "Item size has exceeded the maximum allowed size")
	return c, nil
}

// single carries out PutItem, UpdateItem or DeleteItem.
func (db *DB) single(operation string, r *request) m {
	c, refused := db.plan(operation, r)
	if refused != nil {
		fail("ConditionalCheckFailedException", "The conditional request failed", refused)
	}
	response := m{}
	if r.ReturnValues != "" {
		require(r.ReturnValues == "ALL_NEW" && operation == "Update", "Return values set to invalid value")
		response["Attributes"] = c.next
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
	n := len(r.TransactItems)
	require(n > 0 && n <= maxActions, "1 validation error detected: Value at 'transactItems' failed to satisfy "+
		"constraint: Member must have length between 1 and 100")
	done, now := db.tokens[r.ClientRequestToken], db.now()
	if now.Sub(done.at) < 10*time.Minute {
		if !reflect.DeepEqual(done.actions, r.TransactItems) {
			fail("IdempotentParameterMismatchException",
				"The request uses the same client token as a previous, but non-identical request.", nil)
		}
		return m{}
	}
	var changes []change
	reasons, canceled, known := []m{}, false, map[string]bool{}
	for _, action := range r.TransactItems {
		require(len(action) == 1, "TransactItems can only contain one of Check, Put, Update or Delete")
		for operation, one := range action {
			c, reason := db.plan(operation, one)
			id := c.table.Name + c.key
			require(!known[id], "Transaction request cannot include multiple operations on one item")
			known[id] = true
			if reason == nil {
				reason = m{"Code": "None"}
			} else {
				reason["Code"], canceled = "ConditionalCheckFailed", true
			}
			changes, reasons = append(changes, c), append(reasons, reason)
		}
	}
	if canceled {
		fail("TransactionCanceledException", "Transaction canceled", m{"CancellationReasons": reasons})
	}
	for _, c := range changes {
		db.write(c)
	}
	if r.ClientRequestToken != "" {
		db.tokens[r.ClientRequestToken] = transaction{r.TransactItems, now}
	}
	return m{}
}

// Expire deletes the items whose time to live has ended. DynamoDB does so within some days.
func (db *DB) Expire() {
	for _, name := range slices.Sorted(maps.Keys(db.tables)) {
		t := db.tables[name]
		for _, key := range slices.Sorted(maps.Keys(t.states)) {
			last := t.states[key][len(t.states[key])-1].item
			if last[t.TTLAttribute] != nil && last.Int(t.TTLAttribute) <= db.now().Unix() {
				db.write(change{table: t, key: key, old: last})
			}
		}
	}
}
