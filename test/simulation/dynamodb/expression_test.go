package dynamodb_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"
)

var example = attributes{
	"name": "a", "s": "bcd", "n": 5, "b": []byte{1, 200}, "yes": true, "flat": []any{"x", 1}, "map": attributes{"one": 1, "deep": attributes{"s": "x"}},
	"nil": nil, "createdAt": "2026-01-01",
}

var (
	names  = map[string]string{"#name": "name", "#s": "s", "#map": "map", "#one": "one", "#new": "new", "#createdAt": "createdAt"}
	values = attributes{
		":s": "bcd", ":c": "cde", ":b": "b", ":empty": "", ":n": 5, ":n0": n("5.0"), ":six": 6, ":ten": 10, ":minus": -1, ":third": n("0.3"),
		":bytes": []byte{1, 200}, ":fewer": []byte{1}, ":yes": true, ":no": false, ":null": nil, ":list": []any{"x", 1}, ":none": []any{},
		":map": attributes{"deep": attributes{"s": "x"}, "one": n("1.0")}, ":x": "x", ":one": 1, ":huge": n("1E125"), ":tiny": n("1E-130"),
	}
)

// with adds the names and values that the expressions use to a request.
func with(request m, expressions ...string) m {
	text := strings.Join(expressions, " ")
	used, usedValues := m{}, attributes{}
	for _, ref := range regexp.MustCompile(`[#:]\w+`).FindAllString(text, -1) {
		if name, ok := names[ref]; ok {
			used[ref] = name
		}
		if v, ok := values[ref]; ok {
			usedValues[ref] = v
		}
	}
	if len(used) > 0 {
		request["ExpressionAttributeNames"] = used
	}
	if len(usedValues) > 0 {
		request["ExpressionAttributeValues"] = usedValues
	}
	return request
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// TestConditions compares conditions on an item and on none.
func TestConditions(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.call("put", "PutItem", m{"TableName": "Features", "Item": example})
	for _, condition := range lines(conditions) {
		for _, name := range []string{"a", "missing"} {
			p.call(condition+" / "+name, "TransactWriteItems", m{"TransactItems": []any{m{"ConditionCheck": with(m{
				"TableName": "Features", "Key": attributes{"name": name}, "ConditionExpression": condition,
				"ReturnValuesOnConditionCheckFailure": "ALL_OLD",
			}, condition)}}})
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
nil = :null
flat = :list
flat = :none
#map = :map
#map <> :map
#map.deep.s = :x
#map.#one = :one
#s BETWEEN :b AND :c
n BETWEEN :six AND :ten
n between :n and :n
#s IN (:b, :s)
#s IN (:b, :c)
size(#s) = :n
size(flat) < :six
size(flat) >= :one
size(#map) > :one
size(b) > :one
size(n) > :one
size(nothing) < :six
begins_with(#s, :b)
begins_with(#s, :c)
begins_with(b, :fewer)
contains(#s, :c)
contains(#s, :b)
contains(flat, :x)
contains(flat, :one)
contains(flat, :n)
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
begins_with(#s)
unknown(#s)
#s = if_not_exists(n, :s)
#s BETWEEN :b
#s IN ()
#s = :s, n = :n
a!b = :s
`

// TestUpdates compares update expressions on an item and on none.
func TestUpdates(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for _, update := range lines(updates) {
		for _, name := range []string{"a", "missing"} {
			before := maps.Clone(example)
			if before["name"] = name; name == "a" {
				p.call("put", "PutItem", m{"TableName": "Features", "Item": before})
			} else {
				p.call("delete", "DeleteItem", m{"TableName": "Features", "Key": attributes{"name": name}})
			}
			request := with(m{"TableName": "Features", "Key": attributes{"name": name}, "UpdateExpression": update}, update)
			p.call("transaction: "+update+" / "+name, "TransactWriteItems", m{"TransactItems": []any{
				m{"Update": request}, m{"Delete": m{"TableName": "Users", "Key": attributes{"id": 1}}},
			}})
			p.call("item: "+update+" / "+name, "GetItem", m{"TableName": "Features", "Key": attributes{"name": name}})
			request["ReturnValues"] = "ALL_NEW"
			p.call(update+" / "+name, "UpdateItem", request)
		}
	}
}

const updates = `
SET #new = :s
set #new = :map, n = :six
SET #s = :null, flat = :none
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
ADD n n
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
		key := attributes{"userId": n(text), "id": i}
		p.call("key "+text, "PutItem", m{"TableName": "PersonalAccessTokens", "Item": key})
		p.call("get "+text, "GetItem", m{"TableName": "PersonalAccessTokens", "Key": key})
		p.call("sort "+text, "PutItem", m{"TableName": "PersonalAccessTokens", "Item": attributes{"userId": 777, "id": n(text), "v": n(text)}})
		p.call("sum "+text, "UpdateItem", m{
			"TableName": "PersonalAccessTokens", "Key": attributes{"userId": 777, "id": 888}, "UpdateExpression": "ADD amount :v",
			"ExpressionAttributeValues": attributes{":v": n(text)}, "ReturnValues": "ALL_NEW",
		})
	}
	p.call("order", "Query", m{
		"TableName": "PersonalAccessTokens", "KeyConditionExpression": "userId = :u", "ExpressionAttributeValues": attributes{":u": 777},
	})
}
