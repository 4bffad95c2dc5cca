package dynamodb_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

const (
	example = `{TableName: Features, Item: {name: {S: a}, s: {S: bcd}, n: {N: '5'}, b: {B: AcgB}, yes: {BOOL: true},
  flat: {L: [{S: x}, {N: '1'}]}, map: {M: {one: {N: '1'}, deep: {M: {s: {S: x}}}}}, createdAt: {S: '2026-01-01'}}}`
	names  = `{'#name': name, '#s': s, '#map': map, '#one': one, '#new': new, '#createdAt': createdAt}`
	values = `{':s': {S: bcd}, ':c': {S: cde}, ':b': {S: b}, ':n': {N: '5'}, ':six': {N: '6'}, ':ten': {N: '10'},
  ':minus': {N: '-1'}, ':bytes': {B: AcgB}, ':yes': {BOOL: true}, ':no': {BOOL: false}, ':empty': {S: ''},
  ':list': {L: [{S: x}, {N: '1'}]}, ':none': {L: []}, ':map': {M: {deep: {M: {s: {S: x}}}, one: {N: '1'}}},
  ':x': {S: x}, ':one': {N: '1'}, ':p': {S: p1}, ':c07': {S: c07}, ':c13': {S: c13}}`
)

// request reads a request for a table, Features unless it names one, and adds the names and values that it uses.
func request(tb testing.TB, format string, args ...any) m {
	tb.Helper()
	text := fmt.Sprintf(format, args...)
	all := decode[m](tb, text)
	if all["TableName"] == nil {
		all["TableName"] = "Features"
	}
	for member, known := range map[string]string{"ExpressionAttributeNames": names, "ExpressionAttributeValues": values} {
		used := decode[m](tb, known)
		maps.DeleteFunc(used, func(ref string, _ any) bool { return !regexp.MustCompile(ref + `\b`).MatchString(text) })
		if len(used) > 0 {
			all[member] = used
		}
	}
	return all
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// TestConditions compares conditions on an item and on none.
func TestConditions(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.call("put", "PutItem", decode[m](t, example))
	for _, condition := range lines(conditions) {
		for _, name := range []string{"a", "missing"} {
			check := request(t, "{Key: {name: {S: %s}}, ConditionExpression: '%s', ReturnValuesOnConditionCheckFailure: ALL_OLD}",
				name, condition)
			p.call(condition+" / "+name, "TransactWriteItems", m{"TransactItems": []any{m{"ConditionCheck": check}}})
		}
	}
}

const conditions = `
attribute_exists(#name)
attribute_not_exists(#name)
attribute_exists(#map.#one)
attribute_exists(#s.#one)
attribute_exists(nothing)
#s = :s
#s = :c
#s < :c
#s < :s
#s <= :s
#s >= :c
n = :n
n < :ten
n > :ten
n > :minus
n < :s
nothing = :s
b = :bytes
yes = :yes
yes = :no
flat = :list
flat = :none
#map = :map
#map.deep.s = :x
#map.#one = :one
n BETWEEN :one AND :n
n BETWEEN :six AND :ten
nothing BETWEEN :one AND :ten
#s IN (:c, :s)
#s IN (:c)
n IN ()
size(#map) > :one
size(n) > :one
size(nothing) < :six
#s = :s AND n = :n OR yes = :no
#s = :c AND n = :n OR yes = :yes
#s = :c OR n = :n AND yes = :no
(#s = :s) AND (attribute_not_exists(#new) OR #new < :n)
#s = :undefined
#undefined = :s
#s = 
= :s
#s == :s
(#s = :s
#s = :s)
#s = :s AND
attribute_exists(#s, n)
unknown(#s)
#s = if_not_exists(n, :s)
#s = :s, n = :n
a!b = :s
`

// TestUpdates compares update expressions on an item and on none.
func TestUpdates(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for _, update := range lines(updates) {
		for _, name := range []string{"a", "missing"} {
			key := request(t, "Key: {name: {S: %s}}", name)
			p.call("delete", "DeleteItem", key)
			if name == "a" {
				p.call("put", "PutItem", decode[m](t, example))
			}
			sent := request(t, "{Key: {name: {S: %s}}, UpdateExpression: '%s'}", name, update)
			p.call("transaction: "+update+" / "+name, "TransactWriteItems", m{"TransactItems": []any{
				m{"Update": sent}, m{"Delete": request(t, "{TableName: Users, Key: {id: {N: '1'}}}")},
			}})
			p.call("item: "+update+" / "+name, "GetItem", key)
			sent["ReturnValues"] = "ALL_NEW"
			p.call(update+" / "+name, "UpdateItem", sent)
		}
	}
}

const updates = `
SET #new = :s
set #new = :map, n = :six
SET #s = :none, flat = :s
SET n = n + :one
SET #new = n + :one
SET #new = if_not_exists(#new, :n) + :one
SET n = if_not_exists(n, :n) + :one
SET #new = if_not_exists(nothing, #s)
SET #map.#one = if_not_exists(#map.#one, :n) + :one
SET #map.#new = if_not_exists(#map.#new, :n) + :minus
SET #map.deep.s = :c, #map.deep.t = :one
SET n = :six, #new = n
SET #new = nothing
SET #new.#one = :one
SET #s.#one = :one
SET #s = #s + :one
SET n = n + :s
SET #new = :undefined
SET #undefined = :s
SET #name = :s
SET #createdAt = :n
SET #createdAt = :empty
SET #createdAt = :s
SET #new
SET #new = :s,
REMOVE
SET #new = size(#map)
SET n = n + :one + :one
SET n += :one
REMOVE #s
REMOVE #s, nothing, #map.#one
REMOVE #map.nothing
REMOVE nothing.#one
REMOVE #name
REMOVE n SET #s = :c
ADD n :one
ADD #s :one
ADD n :s
ADD n flat
ADD #name :one
FOO n
SET #new = :s ADD n :one REMOVE flat
`

// TestQueries compares queries of an index, and of a table with pages of 1 MB.
func TestQueries(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for i := range 20 {
		p.call("put", "PutItem", request(t,
			"Item: {name: {S: t%d}, staleness: {S: p%d}, createdAt: {S: c%02[1]d}, n: {N: '%[1]d'}}", i, i%3))
	}
	p.call("not in the index", "PutItem", request(t, "Item: {name: {S: none}, staleness: {S: p1}}"))
	for _, condition := range lines(keyConditions) {
		for _, more := range []string{"", ", Limit: 1", ", Limit: 2, ScanIndexForward: false", ", Limit: 50",
			", ScanIndexForward: false"} {
			p.call(condition+more, "Query", request(t, "{IndexName: staleness, KeyConditionExpression: '%s'%s}", condition, more))
		}
	}
	for i := range 5 {
		p.call("large", "PutItem",
			request(t, "{TableName: Traffic, Item: {period: {S: p1}, pathDayShard: {S: '%d'}, s: {S: x*300000}}}", i))
	}
	page := p.call("page of 1 MB", "Query", request(t, "{TableName: Traffic, KeyConditionExpression: 'period = :p'}"))
	if page["Count"] != 4.0 { // the one that passes the limit is the last
		t.Errorf("%v of 5 items on a page", page["Count"])
	}
}

const keyConditions = `
staleness = :p
staleness = :p AND createdAt = :c07
staleness = :p AND createdAt < :c13
staleness = :p AND createdAt <= :c07
staleness = :p AND createdAt > :c07
createdAt >= :c07 AND staleness = :p
staleness = :p AND createdAt BETWEEN :c07 AND :c13
(staleness = :p) AND (createdAt >= :c13)
`

// TestTransactions compares random transactions, and what is in the table and its index after them.
func TestTransactions(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(text string) string { all := lines(text); return all[random.IntN(len(all))] }
	for range 400 {
		actions := []any{}
		for _, name := range random.Perm(4)[:1+random.IntN(3)] {
			text := strings.NewReplacer("NAME", fmt.Sprint("t", name), "AT", pick("c07\nc13")).Replace(pick(writes) + pick(checks))
			action, parameters, _ := strings.Cut(text, " ")
			actions = append(actions, m{action: request(t, "{%s}", parameters)})
		}
		p.call("random", "TransactWriteItems", m{"TransactItems": actions})
		p.call("table", "Scan", m{"TableName": "Features"})
		p.call("index", "Scan", m{"TableName": "Features", "IndexName": "staleness"})
	}
}

const (
	writes = `
Put Item: {name: {S: NAME}, n: {N: '5'}, staleness: {S: p1}, createdAt: {S: AT}}
Update Key: {name: {S: NAME}}, UpdateExpression: 'ADD n :one'
Update Key: {name: {S: NAME}}, UpdateExpression: 'SET staleness = :p, #createdAt = :c07'
Update Key: {name: {S: NAME}}, UpdateExpression: 'SET #createdAt = :AT'
Update Key: {name: {S: NAME}}, UpdateExpression: 'REMOVE staleness'
Update Key: {name: {S: NAME}}, UpdateExpression: 'SET n = :ten, #map = if_not_exists(#map, :map)'
Update Key: {name: {S: NAME}}, UpdateExpression: 'SET n = n + :one REMOVE #map'
Delete Key: {name: {S: NAME}}`
	checks = `
, ReturnValuesOnConditionCheckFailure: NONE
, ReturnValuesOnConditionCheckFailure: NONE, ConditionExpression: attribute_exists(n)
, ReturnValuesOnConditionCheckFailure: ALL_OLD
, ReturnValuesOnConditionCheckFailure: ALL_OLD, ConditionExpression: attribute_not_exists(n)
, ReturnValuesOnConditionCheckFailure: ALL_OLD, ConditionExpression: n > :six
, ReturnValuesOnConditionCheckFailure: ALL_OLD, ConditionExpression: n <= :six
, ReturnValuesOnConditionCheckFailure: ALL_OLD, ConditionExpression: 'size(#map) < :six'
, ReturnValuesOnConditionCheckFailure: ALL_OLD, ConditionExpression: '#createdAt < :c13'`
)

// TestLimit compares a transaction with the largest number of actions, and a larger one.
func TestLimit(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var actions []m
	for n := 1; n <= 101; n++ {
		if actions = append(actions, m{"Put": request(t, "Item: {name: {S: n%d}}", n)}); n >= 100 {
			p.call("", "TransactWriteItems", m{"TransactItems": actions})
		}
	}
}
