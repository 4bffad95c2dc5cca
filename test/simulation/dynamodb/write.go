package dynamodb

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// planned is a write whose conditions hold.
type planned struct {
	table *table
	key   string
	next  item
}

// target returns the table and the key of a write.
func (db *DB) target(r *request) (t *table, key string) {
	t = db.table(r.TableName)
	if r.Item != nil {
		return t, t.key(r.Item)
	}
	if len(only(r.Key, t.views[0].keyNames()...)) != len(r.Key) {
		panic(invalid("The provided key element does not match the schema"))
	}
	return t, t.key(r.Key)
}

// plan checks a write. refused is set if its condition does not hold: the item, if the request asks for it.
func (db *DB) plan(operation string, r *request) (p planned, refused m) {
	t, key := db.target(r)
	old := t.views[0].get(key)
	p = planned{t, key, nil}
	if !r.condition.holds(r.scope(old)) {
		if refused = (m{}); old != nil && r.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
			refused["Item"] = old
		}
		return p, refused
	}
	switch operation {
	case "Put":
		p.next = r.Item
	case "ConditionCheck":
		p.next = old
	case "Update":
		if p.next = old; old == nil {
			p.next = r.Key
		}
		if p.next = r.update.apply(r.scope(p.next)); t.key(p.next) != key {
			panic(invalid("One or more parameter values were invalid: Cannot update an attribute that is part of the key"))
		}
	case "Delete":
	default:
		panic(invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"))
	}
	return p, nil
}

// single carries out PutItem, UpdateItem or DeleteItem.
func (db *DB) single(operation string, r *request) m {
	r.compile(db)
	p, refused := db.plan(operation, r)
	if refused != nil {
		f := failed("ConditionalCheckFailedException", "The conditional request failed")
		maps.Copy(f, refused)
		panic(f)
	}
	db.write(p.table, p.key, p.next)
	switch {
	case r.ReturnValues == "" || r.ReturnValues == "NONE":
		return m{}
	case r.ReturnValues == "ALL_NEW" && operation == "Update":
		return m{"Attributes": p.next}
	}
	panic(invalid("Return values set to invalid value"))
}

// remembered is a transaction that was carried out. Its token makes it idempotent for ten minutes.
type remembered struct {
	token   string
	actions []map[string]*request
	at      time.Time
}

const tokenAge = 10 * time.Minute

// transact carries out TransactWriteItems.
func (db *DB) transact(r *request) m {
	now, token := db.now(), r.ClientRequestToken
	db.tokens = slices.DeleteFunc(db.tokens, func(done remembered) bool { return now.Sub(done.at) >= tokenAge })
	if n := len(r.TransactItems); n == 0 || n > maxActions {
		panic(invalid(fmt.Sprintf("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "+
			"Member must have length between 1 and %d", maxActions)))
	}
	for _, action := range r.TransactItems {
		for _, one := range action {
			one.compile(db)
		}
		if len(action) != 1 {
			panic(invalid("TransactItems can only contain one of Check, Put, Update or Delete"))
		}
	}
	for _, done := range db.tokens {
		switch {
		case done.token != token:
		case !reflect.DeepEqual(done.actions, r.TransactItems):
			panic(failed("IdempotentParameterMismatchException",
				"The request uses the same client token as a previous, but non-identical request."))
		default:
			return m{}
		}
	}
	plans, reasons, canceled := []planned{}, []m{}, false
	for _, action := range r.TransactItems {
		for operation, one := range action {
			p, reason := db.plan(operation, one)
			if slices.ContainsFunc(plans, func(other planned) bool { return other.table == p.table && other.key == p.key }) {
				panic(invalid("Transaction request cannot include multiple operations on one item"))
			}
			if reason == nil {
				reason = m{"Code": "None"}
			} else {
				reason["Code"], canceled = "ConditionalCheckFailed", true
			}
			plans, reasons = append(plans, p), append(reasons, reason)
		}
	}
	if canceled {
		f := failed("TransactionCanceledException", "Transaction canceled")
		f["CancellationReasons"] = reasons
		panic(f)
	}
	for _, p := range plans {
		db.write(p.table, p.key, p.next)
	}
	if token != "" {
		db.tokens = append(db.tokens, remembered{token, r.TransactItems, now})
	}
	return m{}
}
