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
	example = `{name: a, s: bcd, n: 5, b: !!binary AcgB, yes: true, flat: [x, 1], map: {one: 1, deep: {s: x}}, ` +
		`createdAt: '2026-01-01'}`
	names  = `{'#name': name, '#s': s, '#map': map, '#one': one, '#new': new, '#createdAt': createdAt}`
	values = `{':s': bcd, ':c': cde, ':b': b, ':n': 5, ':six': 6, ':ten': 10, ':minus': -1, 
		':bytes': !!binary AcgB, ':yes': true, ':no': false, ':list': [x, 1], ':none': [],
		':map': {deep: {s: x}, one: 1}, ':x': x, ':one': 1, ':p': p1, ':c07': c07, ':c13': c13}`
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
#s = :s
#s <> :s
#s = :c
#s < :c
#s < :s
#s <= :s
#s >= :c
n = :n
n < :ten
n > :ten
n > :minus
n <> :s
n < :s
nothing = :s
nothing <> :s
b = :bytes
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
n BETWEEN :one AND :n
n BETWEEN :six AND :ten
nothing BETWEEN :one AND :ten
#s IN (:c, :s)
#s IN (:c)
n IN ()
size(flat) >= :one
size(#map) > :one
size(b) > :one
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
SET #new = size(#s)
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
		p.call("put", "PutItem", parse(t, fmt.Sprintf("Item: {name: t%d, staleness: p%d, createdAt: c%02d, n: %d}", i, i%3, i,
			i)))
	}
	p.call("not in the index", "PutItem", parse(t, "Item: {name: none, staleness: p1}"))
	for _, condition := range lines(keyConditions) {
		for _, more := range []string{"", ", Limit: 1", ", Limit: 2, ScanIndexForward: false", ", Limit: 50",
			", ScanIndexForward: false"} {
			p.pages(condition+more, "Query",
				with(t, "{TableName: Features, IndexName: staleness, KeyConditionExpression: '"+condition+"'"+more+"}"))
		}
	}
	for i := range 5 {
		p.call("large", "PutItem",
			parse(t, fmt.Sprintf("{TableName: Traffic, Item: {period: p1, pathDayShard: '%d', s: !x 300000}}", i)))
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
					pick("attribute_exists(n)", "attribute_not_exists(n)", "n > :six", "n <= :six", "size(flat) < :six",
						"#createdAt <> :c07") + "'"
			}
			key := fmt.Sprintf("{name: t%d", name)
			action, request, _ := strings.Cut(pick(
				"Put {Item: "+key+", n: 5, staleness: p1, createdAt: "+pick("c07", "c13")+"}",
				"Update {Key: "+key+"}, UpdateExpression: '"+pick("ADD n :one", "SET staleness = :p, #createdAt = :c07",
					"SET #createdAt = :c13",
					"REMOVE staleness", "SET n = :ten, flat = if_not_exists(flat, :list)", "SET n = n + :one REMOVE flat")+"'",
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
