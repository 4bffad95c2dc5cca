package dynamodb

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// planned is a write whose conditions hold.
type planned struct {
	table     *table
	key       string
	old, next item
}

// target returns the table and the key of a write.
func (db *DB) target(r *request) (t *table, key string) {
	t = db.table(r.TableName)
	if r.Item == nil && len(r.Key) != len(t.keyNames()) {
		panic(invalid("The provided key element does not match the schema"))
	}
	return t, t.position(slices.Concat(r.Key, r.Item))
}

// plan checks a write, and panics if it fails.
func (db *DB) plan(r *request) planned {
	t, key := db.target(r)
	p := planned{t, key, t.get(key), nil}
	if r.condition != nil && !r.condition(r.scope(p.old)) {
		f := failure{code: "ConditionalCheckFailedException", message: "The conditional request failed"}
		if r.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
			f.item = p.old
		}
		panic(f)
	}
	switch r.operation {
	case "PutItem":
		p.next = r.Item
	case "ConditionCheck":
		p.next = p.old
	case "UpdateItem":
		base := p.old
		if base == nil {
			base = r.Key
		}
		if p.next = r.scope(base).update(r.update); t.position(p.next) != key {
			panic(invalid("One or more parameter values were invalid: Cannot update an attribute that is part of the key"))
		}
	}
	return p
}

// single carries out PutItem, UpdateItem or DeleteItem.
func (db *DB) single(r *request) []byte {
	r.compile(db)
	p := db.plan(r)
	var returned item
	switch {
	case r.ReturnValues == "" || r.ReturnValues == "NONE":
	case r.ReturnValues == "ALL_OLD":
		returned = p.old
	case r.ReturnValues == "ALL_NEW" && r.operation == "UpdateItem":
		returned = p.next
	default:
		panic(invalid("Return values set to invalid value"))
	}
	db.write(p.table, p.key, p.next)
	if returned == nil {
		return []byte("{}")
	}
	return append(returned.append([]byte(`{"Attributes":`)), '}')
}

// remembered is a transaction that was carried out. Its token makes it idempotent for ten minutes.
type remembered struct {
	token, request string
	at             time.Time
}

const (
	tokenAge = 10 * time.Minute
	maxToken = 36 // characters
)

// actions returns the writes of a transaction.
func (r *request) actions() (all []*request) {
	for _, action := range r.TransactItems {
		var one *request
		for operation, of := range map[string]*request{
			"PutItem": action.Put, "UpdateItem": action.Update, "DeleteItem": action.Delete,
			"ConditionCheck": action.ConditionCheck,
		} {
			if of != nil && one != nil {
				panic(invalid("TransactItems can only contain one of Check, Put, Update or Delete"))
			}
			if of != nil {
				of.operation, one = operation, of
			}
		}
		if one == nil {
			panic(invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"))
		}
		if one == action.ConditionCheck && one.ConditionExpression == nil || one == action.Update &&
			one.UpdateExpression == nil {
			panic(invalid("1 validation error detected: Value null at 'transactItems.1.member' failed to satisfy constraint: " +
				"Member must not be null"))
		}
		all = append(all, one)
	}
	if len(all) == 0 || len(all) > maxActions {
		panic(invalid(fmt.Sprintf("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "+
			"Member must have length between 1 and %d", maxActions)))
	}
	return all
}

// transact carries out TransactWriteItems.
func (db *DB) transact(r *request, body []byte) []byte {
	actions := r.actions()
	for _, action := range actions {
		action.compile(db)
	}
	canonical := jsontext.Value(slices.Clone(body))
	if len(r.ClientRequestToken) > maxToken {
		panic(invalid("1 validation error detected: Value at 'clientRequestToken' failed to satisfy constraint: " +
			"Member must have length less than or equal to 36"))
	}
	if r.ClientRequestToken != "" {
		db.forget()
		if err := canonical.Canonicalize(); err != nil {
			panic(failure{code: "SerializationException", message: err.Error()})
		}
		for _, done := range db.tokens {
			if done.token == r.ClientRequestToken {
				if done.request != string(canonical) {
					panic(failure{
						code:    "IdempotentParameterMismatchException",
						message: "The request uses the same client token as a previous, but non-identical request.",
					})
				}
				return []byte("{}")
			}
		}
	}
	var plans []planned
	reasons, failed, size := make([]failure, len(actions)), false, 0
	for i, action := range actions {
		f := caught(func() {
			t, key := db.target(action)
			if slices.ContainsFunc(plans, func(p planned) bool { return p.table == t && p.key == key }) {
				panic(failure{code: "Request", message: "Transaction request cannot include multiple operations on one item"})
			}
			plans = append(plans, planned{t, key, nil, nil})
			plans[len(plans)-1] = db.plan(action)
		})
		if f == nil {
			p := plans[len(plans)-1]
			size += max(p.old.size(), p.next.size())
			continue
		}
		switch f.code {
		case "Request":
			panic(invalid(f.message))
		case "ResourceNotFoundException":
			panic(*f)
		}
		reasons[i], failed = *f, true
	}
	if failed {
		panic(failure{code: "TransactionCanceledException", reasons: reasons})
	}
	if size > maxTransaction {
		panic(invalid("Collection size of the transaction has exceeded the maximum of 4 MB"))
	}
	for i, p := range plans {
		if actions[i].operation != "ConditionCheck" {
			db.write(p.table, p.key, p.next)
		}
	}
	if r.ClientRequestToken != "" {
		db.tokens = append(db.tokens, remembered{r.ClientRequestToken, string(canonical), db.now()})
	}
	return []byte("{}")
}

// forget drops the tokens that are too old.
func (db *DB) forget() {
	now := db.now()
	db.tokens = slices.DeleteFunc(db.tokens, func(done remembered) bool { return now.Sub(done.at) >= tokenAge })
}

// caught returns the failure that f panics with, or nil.
func caught(f func()) (failed *failure) {
	defer func() {
		if r := recover(); r != nil {
			known, ok := r.(failure)
			if !ok {
				panic(r)
			}
			failed = &known
		}
	}()
	f()
	return nil
}
