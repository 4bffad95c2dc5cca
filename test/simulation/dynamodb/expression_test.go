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
	example = `{name: a, s: bcd, n: 5, b: !!binary AcgB, yes: true, flat: [x, 1], map: {one: 1, deep: {s: x}}, createdAt: '2026-01-01'}`
	names   = `{'#name': name, '#s': s, '#map': map, '#one': one, '#new': new, '#createdAt': createdAt}`
	values  = `{':s': bcd, ':c': cde, ':b': b, ':empty': '', ':n': 5, ':n0': 5.0, ':six': 6, ':ten': 10, ':minus': -1, ':third': 0.3,
		':bytes': !!binary AcgB, ':fewer': !!binary AQ==, ':yes': true, ':no': false, ':list': [x, 1], ':none': [],
		':map': {deep: {s: x}, one: 1.0}, ':x': x, ':one': 1, ':huge': 1E125, ':tiny': 1E-130, ':p': p1, ':c07': c07, ':c13': c13}`
)

// with reads a request, and adds the names and values that its expressions use.
func with(tb testing.TB, request string) m {
	tb.Helper()
	all := parse(tb, request)
	for member, known := range map[string]string{"ExpressionAttributeNames": names, "ExpressionAttributeValues": values} {
		used := maps.Clone(parse(tb, "{"+member+": "+known+"}")[member].(m)) //nolint:errcheck // an error is a panic
		maps.DeleteFunc(used, func(ref string, _ any) bool { return !regexp.MustCompile(ref + `\b`).MatchString(request) })
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
	p.call("put", "PutItem", parse(t, "{Item: "+example+"}"))
	for _, condition := range lines(conditions) {
		for _, name := range []string{"a", "missing"} {
			p.call(condition+" / "+name, "TransactWriteItems", m{"TransactItems": []any{m{"ConditionCheck": with(t, fmt.Sprintf(
				"{Key: {name: %s}, ConditionExpression: '%s', ReturnValuesOnConditionCheckFailure: ALL_OLD}", name, condition))}}})
		}
	}
}

const conditions = `
attribute_exists(#name)
attribute_not_exists(#name)
attribute_exists(#map.#one)
attribute_exists(#s.#one)
attribute_exists(nothing)
NOT attribute_exists(nothing)
not attribute_exists(nothing) and #s = :s
#s = :s
#s <> :s
#s = :c
#s < :c
#s < :s
n > :n0
#s <= :s
#s > :b
#s >= :c
n = :n
n = :n0
n < :ten
n > :ten
n > :minus
n > :third
n < :huge
n > :tiny
n <> :s
n < :s
nothing = :s
nothing <> :s
NOT nothing = :s
NOT nothing < :s
b = :bytes
b > :fewer
yes = :yes
yes = :no
flat = :list
flat = :none
#map = :map
#map <> :map
#map.deep.s = :x
#map.#one = :one
size(#s) = :n
size(flat) < :six
size(flat) >= :one
size(#map) > :one
size(b) > :one
size(n) > :one
size(nothing) < :six
#s = :s AND n = :n OR yes = :no
#s = :c AND n = :n OR yes = :yes
#s = :c OR n = :n AND yes = :no
NOT (#s = :c OR n = :six) AND yes = :yes
(#s = :s) AND (attribute_not_exists(#new) OR #new < :n)
NOT (NOT #s = :s)
#s = :undefined
#undefined = :s
#s = 
= :s
#s == :s
(#s = :s
#s = :s)
#s = :s AND
size(#s)
attribute_exists(:s)
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
			key := "Key: {name: " + name + "}"
			p.call("delete", "DeleteItem", parse(t, key))
			if name == "a" {
				p.call("put", "PutItem", parse(t, "{Item: "+example+"}"))
			}
			request := with(t, "{"+key+", UpdateExpression: '"+update+"'}")
			p.call("transaction: "+update+" / "+name, "TransactWriteItems", m{"TransactItems": []any{
				m{"Update": request}, m{"Delete": parse(t, "{TableName: Users, Key: {id: 1}}")},
			}})
			p.call("item: "+update+" / "+name, "GetItem", parse(t, key))
			request["ReturnValues"] = "ALL_NEW"
			p.call(update+" / "+name, "UpdateItem", request)
		}
	}
}

const updates = `
SET #new = :s
set #new = :map, n = :six
SET #s = :none, flat = :s
SET n = n + :one
SET n = n - :third
SET #new = n + :one
SET #new = if_not_exists(#new, :n) + :one
SET n = if_not_exists(n, :n) + :one
SET #new = if_not_exists(nothing, #s)
SET #map.#one = if_not_exists(#map.#one, :n) + :one
SET #map.#new = if_not_exists(#map.#new, :n) + :minus
SET #map.deep.s = :c, #map.deep.t = :one
SET flat = list_append(flat, :list)
SET #new = list_append(if_not_exists(#new, :none), :list)
SET flat = list_append(:list, flat)
SET n = :six, #new = n
SET #new = nothing
SET #new.#one = :one
SET #s.#one = :one
SET #s = #s + :one
SET n = n + :s
SET flat = list_append(flat, :s)
SET n = n + :huge
SET n = :huge + :tiny
SET #new = :undefined
SET #undefined = :s
SET #new = :empty
SET #name = :s
SET #createdAt = :n
SET #createdAt = :empty
SET #createdAt = :s
SET #map = :map, #map.#one = :one
SET #new = :s, #new = :s
SET #new = :s SET n = :n
SET #new
SET #new = :s,
REMOVE
SET #new = size(#s)
SET n = n + :one + :one
SET n += :one
REMOVE #s
REMOVE #s, nothing, #map.#one
REMOVE #map.nothing
REMOVE nothing.#one
REMOVE #name
REMOVE #map.deep REMOVE n
REMOVE n SET #s = :c
ADD n :one
ADD n :third, #new :minus
ADD #s :one
ADD #new :s
ADD n :s
ADD n flat
ADD #name :one
FOO n
SET #new = :s ADD n :one REMOVE flat
`

// TestNumbers compares how numbers are stored, added and ordered.
func TestNumbers(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for i, text := range strings.Fields(`0 -0 1 -1 1.0 00012 0.10 -00.5 1E2 1e+2 1E-2 -2.50E1 .5 5. +5 1e125 9.9999999999999999999999999999999999999E+125
		1E126 -1E126 1E-130 1E-131 12345678901234567890123456789012345678 123456789012345678901234567890123456789 0.00000000000000000000000000001
		100000000000000000000000000000000000000000 1.23456789012345678901234567890123456789 abc 1_0 0x1F NaN Infinity 1e 1.2.3 9007199254740993`) {
		put := m{"TableName": "PersonalAccessTokens", "Item": m{"userId": m{"N": text}, "id": m{"N": fmt.Sprint(i)}}}
		p.call("key "+text, "PutItem", put)
		put["Item"] = m{"userId": m{"N": "777"}, "id": m{"N": text}, "v": m{"N": text}}
		p.call("sort "+text, "PutItem", put)
		add := parse(t, "{TableName: PersonalAccessTokens, Key: {userId: 777, id: 888}, UpdateExpression: 'ADD amount :v', ReturnValues: ALL_NEW}")
		add["ExpressionAttributeValues"] = m{":v": m{"N": text}}
		p.call("sum "+text, "UpdateItem", add)
	}
	p.call("keys", "Scan", m{"TableName": "PersonalAccessTokens"})
	p.pages("order", "Query", parse(t, "{TableName: PersonalAccessTokens, KeyConditionExpression: 'userId = :u', ExpressionAttributeValues: {':u': 777}}"))
}

// TestQueries compares queries of an index, and of a table with pages of 1 MB.
func TestQueries(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for i := range 20 {
		p.call("put", "PutItem", parse(t, fmt.Sprintf("Item: {name: t%d, staleness: p%d, createdAt: c%02d, n: %d}", i, i%3, i, i)))
	}
	p.call("not in the index", "PutItem", parse(t, "Item: {name: none, staleness: p1}"))
	for _, condition := range lines(keyConditions) {
		for _, more := range []string{"", ", Limit: 1", ", Limit: 2, ScanIndexForward: false", ", Limit: 50", ", ScanIndexForward: false"} {
			p.pages(condition+more, "Query", with(t, "{TableName: Features, IndexName: staleness, KeyConditionExpression: '"+condition+"'"+more+"}"))
		}
	}
	for i := range 5 {
		p.call("large", "PutItem", parse(t, fmt.Sprintf("{TableName: Traffic, Item: {period: p1, pathDayShard: '%d', s: !x 300000}}", i)))
	}
	page := p.call("page of 1 MB", "Query", with(t, "{TableName: Traffic, KeyConditionExpression: 'period = :p'}"))
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
staleness > :p
createdAt = :c07
staleness = :p AND createdAt = :n
staleness = :p AND createdAt <> :c07
staleness = :p OR createdAt = :c07
staleness = :p AND staleness = :p
staleness = :p AND #name = :c07
`

// TestTransactions compares random transactions, and what is in the table and its index after them.
func TestTransactions(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	for range 400 {
		actions := []any{}
		for _, name := range random.Perm(4)[:1+random.IntN(3)] {
			condition := ""
			if random.IntN(2) == 0 {
				condition = ", ReturnValuesOnConditionCheckFailure: ALL_OLD, ConditionExpression: '" +
					pick("attribute_exists(n)", "attribute_not_exists(n)", "n > :six", "NOT n > :six", "size(flat) < :six", "#createdAt <> :c07") + "'"
			}
			key := fmt.Sprintf("{name: t%d", name)
			action, request, _ := strings.Cut(pick(
				"Put {Item: "+key+", n: 5, staleness: p1, createdAt: "+pick("c07", "c13")+"}",
				"Update {Key: "+key+"}, UpdateExpression: '"+pick("ADD n :one", "SET staleness = :p, #createdAt = :c07", "SET #createdAt = :c13",
					"REMOVE staleness", "SET n = :ten, flat = list_append(if_not_exists(flat, :none), :list)", "SET n = n + :one REMOVE flat")+"'",
				"Delete {Key: "+key+"}"), " ")
			actions = append(actions, m{action: with(t, request+condition+"}")})
		}
		p.call("random", "TransactWriteItems", m{"TransactItems": actions})
		p.call("table", "Scan", m{"TableName": "Features"})
		p.call("index", "Scan", m{"TableName": "Features", "IndexName": "staleness"})
	}
}

// TestLimits compares transactions of the largest size, and larger ones.
func TestLimits(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for _, limit := range [][2]int{{100, 1}, {101, 1}, {10, 400_000}, {11, 400_000}} {
		var actions []any
		for i := range limit[0] {
			actions = append(actions, parse(t, fmt.Sprintf("Put: {Item: {name: n%d, v: !x %d}}", i, limit[1])))
		}
		p.call(fmt.Sprint(limit), "TransactWriteItems", m{"TransactItems": actions})
	}
}
