package dynamodb_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestReads compares Query and Scan, each with all pages, of a table and of an index.
func TestReads(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	for i := range 20 {
		p.call("put", "PutItem", m{"TableName": "Features", "Item": attributes{
			"name": fmt.Sprint("t", i), "staleness": fmt.Sprint("p", i%3), "createdAt": fmt.Sprintf("c%02d", i), "n": i, "s": strings.Repeat("x", i),
		}})
		p.call("put traffic", "PutItem", m{"TableName": "Traffic", "Item": attributes{
			"period": fmt.Sprint("2026-0", i%2), "pathDayShard": fmt.Sprintf("/p%d#%d", i%3, i), "n": i,
		}})
	}
	p.call("not in the index", "PutItem", m{"TableName": "Features", "Item": attributes{"name": "none", "staleness": "p1", "n": 1}})
	pages := func(name, operation string, request m) {
		for page := 0; ; page++ {
			got, _ := p.call(fmt.Sprint(name, " page ", page), operation, request).(m)["body"].(map[string]any)
			if got["LastEvaluatedKey"] == nil || page > 30 {
				return
			}
			request["ExclusiveStartKey"] = got["LastEvaluatedKey"]
		}
	}
	index := attributes{":p": "p1", ":c": "c07", ":d": "c13", ":b": "c", ":n": 1}
	for _, condition := range lines(keyConditions) {
		for _, limit := range []int{0, 1, 2, 50} {
			for _, forward := range []bool{true, false} {
				used := attributes{}
				for ref, v := range index {
					if strings.Contains(condition, ref) {
						used[ref] = v
					}
				}
				request := m{
					"TableName": "Features", "IndexName": "staleness", "KeyConditionExpression": condition, "ExpressionAttributeValues": used,
					"ScanIndexForward": forward,
				}
				if limit > 0 {
					request["Limit"] = limit
				}
				pages(fmt.Sprint(condition, limit, forward), "Query", request)
			}
		}
	}
	for name, request := range map[string]m{
		"all": {}, "consistent": {"ConsistentRead": true}, "filter": {"FilterExpression": "n > :n", "ExpressionAttributeValues": attributes{":n": 7}},
		"count": {"Select": "COUNT", "FilterExpression": "n > :n", "ExpressionAttributeValues": attributes{":n": 7}},
		"index": {"IndexName": "staleness"}, "no index": {"IndexName": "other"}, "consistent index": {"IndexName": "staleness", "ConsistentRead": true},
		"no table": {"TableName": "Other"}, "limit": {"Limit": 0}, "start": {"ExclusiveStartKey": attributes{"createdAt": "x"}},
		"start type": {"ExclusiveStartKey": attributes{"name": 1}}, "unused": {"ExpressionAttributeNames": m{"#a": "a"}},
	} {
		if request["TableName"] == nil {
			request["TableName"] = "Features"
		}
		p.call("scan: "+name, "Scan", request)
	}
	for name, request := range map[string]m{
		"none": {}, "limit 3": {"Limit": 3}, "prefix": {"KeyConditionExpression": "period = :p AND begins_with(pathDayShard, :b)"},
		"filter":           {"FilterExpression": "n > :n", "Limit": 4},
		"filter on a key":  {"FilterExpression": "period = :p"},
		"start elsewhere":  {"ExclusiveStartKey": attributes{"period": "2026-01", "pathDayShard": "x"}},
		"start of nothing": {"ExclusiveStartKey": attributes{"period": "2026-00", "pathDayShard": "/p1"}},
	} {
		request["TableName"] = "Traffic"
		if request["KeyConditionExpression"] == nil {
			request["KeyConditionExpression"] = "period = :p"
		}
		request["ExpressionAttributeValues"] = attributes{":p": "2026-00"}
		if request["FilterExpression"] == "n > :n" {
			request["ExpressionAttributeValues"] = attributes{":p": "2026-00", ":n": 7}
		}
		if name == "prefix" {
			request["ExpressionAttributeValues"] = attributes{":p": "2026-00", ":b": "/p1#1"}
		}
		pages("query: "+name, "Query", request)
	}
	for i := range 5 {
		p.call("large", "PutItem", m{"TableName": "Traffic", "Item": attributes{
			"period": "large", "pathDayShard": fmt.Sprint(i), "s": strings.Repeat("x", 300_000),
		}})
	}
	last := p.call("page of 1 MB", "Query", m{
		"TableName": "Traffic", "KeyConditionExpression": "period = :p", "ExpressionAttributeValues": attributes{":p": "large"}, "Select": "COUNT",
	})
	t.Log(last)
}

const keyConditions = `
staleness = :p
staleness = :p AND createdAt = :c
staleness = :p AND createdAt < :d
staleness = :p AND createdAt <= :c
staleness = :p AND createdAt > :c
createdAt >= :c AND staleness = :p
staleness = :p AND createdAt BETWEEN :c AND :d
(staleness = :p) AND (begins_with(createdAt, :b))
staleness > :p
createdAt = :c
staleness = :p AND createdAt = :n
staleness = :p AND createdAt <> :c
staleness = :p OR createdAt = :c
staleness = :p AND staleness = :p
staleness = :p AND name = :c
`

func TestRequests(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	key := func(name string) attributes { return attributes{"name": name} }
	put := func(name string, more ...any) m {
		item := key(name)
		for i := 0; i < len(more); i += 2 {
			item[fmt.Sprint(more[i])] = more[i+1]
		}
		return m{"TableName": "Features", "Item": item}
	}
	of := func(name string, members ...any) m {
		request := m{"TableName": "Features", "Key": key(name)}
		for i := 0; i < len(members); i += 2 {
			request[fmt.Sprint(members[i])] = members[i+1]
		}
		return request
	}
	transaction := func(actions ...any) m { return m{"TransactItems": actions} }
	token := func(token string, actions ...any) m { return m{"TransactItems": actions, "ClientRequestToken": token} }
	const absent, present = "attribute_not_exists(createdAt)", "attribute_exists(createdAt)"
	many := func(count int) (actions []any) {
		for i := range count {
			actions = append(actions, m{"Put": put(fmt.Sprint("many", i))})
		}
		return actions
	}
	large := func(count, size int) (actions []any) {
		for i := range count {
			actions = append(actions, m{"Put": put(fmt.Sprint("large", i), "s", strings.Repeat("x", size))})
		}
		return actions
	}
	for _, c := range []struct {
		name, operation string
		request         m
	}{
		{"get nothing", "GetItem", of("a")},
		{"put", "PutItem", put("a", "createdAt", "1", "v", 1)},
		{"put all old", "PutItem", m{"TableName": "Features", "Item": attributes{"name": "a", "createdAt": "2"}, "ReturnValues": "ALL_OLD"}},
		{"put new all old", "PutItem", m{"TableName": "Features", "Item": attributes{"name": "b"}, "ReturnValues": "ALL_OLD"}},
		{"put all new", "PutItem", m{"TableName": "Features", "Item": attributes{"name": "b"}, "ReturnValues": "ALL_NEW"}},
		{"get", "GetItem", of("a", "ConsistentRead", true)},
		{"get with more attributes", "GetItem", m{"TableName": "Features", "Key": attributes{"name": "a", "createdAt": "2"}}},
		{"get with another attribute", "GetItem", m{"TableName": "Features", "Key": attributes{"id": "a"}}},
		{"get with another type", "GetItem", m{"TableName": "Features", "Key": attributes{"name": 1}}},
		{"get the empty key", "GetItem", of("")},
		{"get without a range key", "GetItem", m{"TableName": "Traffic", "Key": attributes{"period": "a"}}},
		{"no table", "GetItem", m{"TableName": "Other", "Key": key("a")}},
		{"put without a key", "PutItem", m{"TableName": "Features", "Item": attributes{"id": "a"}}},
		{"put another type", "PutItem", m{"TableName": "Features", "Item": attributes{"name": 1}}},
		{"put the empty key", "PutItem", put("")},
		{"put the empty index key", "PutItem", put("c", "staleness", "")},
		{"put an index key of another type", "PutItem", put("c", "staleness", 1)},
		{"put the longest key", "PutItem", put(strings.Repeat("k", 2048))},
		{"put a longer key", "PutItem", put(strings.Repeat("k", 2049))},
		{"put the longest range key", "PutItem", m{"TableName": "Traffic", "Item": attributes{"period": "a", "pathDayShard": strings.Repeat("k", 1024)}}},
		{"put a longer range key", "PutItem", m{"TableName": "Traffic", "Item": attributes{"period": "a", "pathDayShard": strings.Repeat("k", 1025)}}},
		{"put an empty string", "PutItem", put("c", "v", "", "b", []byte{})},
		{"put the largest item", "PutItem", put("big", "v", strings.Repeat("v", 400<<10-len("namebigv")))},
		{"put a larger item", "PutItem", put("big", "v", strings.Repeat("v", 400<<10-len("namebigv")+1))},
		{"update to a larger item", "UpdateItem", of("big", "UpdateExpression", "SET v2 = :v", "ExpressionAttributeValues", attributes{":v": ""})},
		{"delete big", "DeleteItem", of("big", "ReturnValues", "NONE")},
		{"condition holds", "PutItem", m{"TableName": "Features", "Item": attributes{"name": "a", "createdAt": "3"}, "ConditionExpression": present}},
		{"condition fails", "PutItem", m{"TableName": "Features", "Item": attributes{"name": "a"}, "ConditionExpression": absent}},
		{"condition fails, all old", "UpdateItem", of("a", "ConditionExpression", absent, "ReturnValuesOnConditionCheckFailure", "ALL_OLD")},
		{"condition fails, all old of nothing", "DeleteItem", of("x", "ConditionExpression", present, "ReturnValuesOnConditionCheckFailure", "ALL_OLD")},
		{"update nothing", "UpdateItem", of("new", "ReturnValues", "ALL_NEW")},
		{"update all old", "UpdateItem", of("a", "ReturnValues", "ALL_OLD", "UpdateExpression", "REMOVE createdAt")},
		{"update new all old", "UpdateItem", of("new2", "ReturnValues", "ALL_OLD", "UpdateExpression", "REMOVE createdAt")},
		{"unused name", "UpdateItem", of("a", "UpdateExpression", "REMOVE v", "ExpressionAttributeNames", m{"#a": "a"})},
		{"unused value", "UpdateItem", of("a", "UpdateExpression", "REMOVE v", "ExpressionAttributeValues", attributes{":a": "a"})},
		{"names without expressions", "UpdateItem", of("a", "ExpressionAttributeNames", m{"#a": "a"})},
		{"empty values", "UpdateItem", of("a", "UpdateExpression", "REMOVE v", "ExpressionAttributeValues", attributes{})},
		{"empty names", "UpdateItem", of("a", "UpdateExpression", "REMOVE v", "ExpressionAttributeNames", m{})},
		{"empty expression", "UpdateItem", of("a", "UpdateExpression", "")},
		{"empty condition", "DeleteItem", of("a", "ConditionExpression", "")},
		{"empty value", "PutItem", put("a", "v", attributesOnly{})},
		{"return values", "DeleteItem", of("b", "ReturnValues", "ALL_NEW")},
		{"delete", "DeleteItem", of("b", "ReturnValues", "ALL_OLD")},
		{"delete nothing", "DeleteItem", of("b", "ReturnValues", "ALL_OLD")},
		{"batch", "BatchGetItem", m{"RequestItems": m{
			"Features": m{"Keys": []any{key("a"), key("c"), key("x")}, "ConsistentRead": true}, "Users": m{"Keys": []any{attributes{"id": 1}}},
		}}},
		{"batch with duplicates", "BatchGetItem", m{"RequestItems": m{"Features": m{"Keys": []any{key("a"), key("a")}}}}},
		{"batch of nothing", "BatchGetItem", m{"RequestItems": m{}}},
		{"batch without keys", "BatchGetItem", m{"RequestItems": m{"Features": m{"Keys": []any{}}}}},
		{"batch with a wrong key", "BatchGetItem", m{"RequestItems": m{"Features": m{"Keys": []any{attributes{"id": "a"}}}}}},
		{"batch without a table", "BatchGetItem", m{"RequestItems": m{"Other": m{"Keys": []any{key("a")}}}}},

		{"transaction", "TransactWriteItems", transaction(
			m{"Put": put("t1", "createdAt", "1")}, m{"Update": of("t2", "UpdateExpression", "ADD n :n", "ExpressionAttributeValues", attributes{":n": 1})},
			m{"Delete": of("new")}, m{"ConditionCheck": of("a", "ConditionExpression", absent)})},
		{"canceled", "TransactWriteItems", transaction(
			m{"Put": put("t3")}, m{"Update": of("t2", "UpdateExpression", "REMOVE v", "ConditionExpression", present, "ReturnValuesOnConditionCheckFailure", "ALL_OLD")},
			m{"Delete": of("t1", "ConditionExpression", absent, "ReturnValuesOnConditionCheckFailure", "ALL_OLD")},
			m{"ConditionCheck": of("x", "ConditionExpression", present, "ReturnValuesOnConditionCheckFailure", "ALL_OLD")},
			m{"Delete": of("t4", "ConditionExpression", present)})},
		{"nothing of it", "GetItem", of("t3")},
		{"twice the same item", "TransactWriteItems", transaction(m{"Put": put("t3")}, m{"Delete": of("t3")})},
		{"no actions", "TransactWriteItems", transaction()},
		{"empty action", "TransactWriteItems", transaction(m{})},
		{"two in one action", "TransactWriteItems", transaction(m{"Put": put("t3"), "Delete": of("t4")})},
		{"100 actions", "TransactWriteItems", transaction(many(100)...)},
		{"101 actions", "TransactWriteItems", transaction(many(101)...)},
		{"less than 4 MB", "TransactWriteItems", transaction(large(10, 400_000)...)},
		{"more than 4 MB", "TransactWriteItems", transaction(large(11, 400_000)...)},
		{"key of another type in a transaction", "TransactWriteItems", transaction(m{"Delete": m{"TableName": "Features", "Key": attributes{"name": 1}}})},
		{"empty key in a transaction", "TransactWriteItems", transaction(m{"Put": put("")})},
		{"empty index key in a transaction", "TransactWriteItems", transaction(m{"Put": put("t3", "staleness", "")})},
		{"put without a key in a transaction", "TransactWriteItems", transaction(m{"Put": m{"TableName": "Features", "Item": attributes{"id": "a"}}})},
		{"too large in a transaction", "TransactWriteItems", transaction(m{"Put": put("big", "v", strings.Repeat("v", 400<<10))})},
		{"no table in a transaction", "TransactWriteItems", transaction(m{"Delete": m{"TableName": "Other", "Key": key("a")}})},
		{"syntax error in a transaction", "TransactWriteItems", transaction(m{"Delete": of("a", "ConditionExpression", "a b")})},
		{"unused value in a transaction", "TransactWriteItems", transaction(m{"Delete": of("a", "ExpressionAttributeValues", attributes{":a": 1})})},
		{"check without a condition", "TransactWriteItems", transaction(m{"ConditionCheck": of("a")})},
		{"update without an expression", "TransactWriteItems", transaction(m{"Update": of("a")})},
		{"token", "TransactWriteItems", token("t", m{"Update": of("once", "UpdateExpression", "ADD n :n", "ExpressionAttributeValues", attributes{":n": 1})})},
		{"same token", "TransactWriteItems", token("t", m{"Update": of("once", "UpdateExpression", "ADD n :n", "ExpressionAttributeValues", attributes{":n": 1})})},
		{"once", "GetItem", of("once")},
		{"same token, another request", "TransactWriteItems", token("t", m{"Delete": of("once")})},
		{"token of a failure", "TransactWriteItems", token("f", m{"Put": m{"TableName": "Features", "Item": key("f"), "ConditionExpression": present}})},
		{"put for it", "PutItem", put("f", "createdAt", "1")},
		{"same token after a failure", "TransactWriteItems", token("f", m{"Put": m{"TableName": "Features", "Item": key("f"), "ConditionExpression": present}})},
		{"token too long", "TransactWriteItems", token(strings.Repeat("t", 37), m{"Delete": of("x")})},
		{"empty token", "TransactWriteItems", token("", m{"Delete": of("x")})},

		{"put announcements", "PutItem", put("p1", "sequence", 1, "pending", []any{attributes{}}, "pendingSince", "1", "pendingShard", "1")},
		{"put other announcements", "PutItem", put("p2", "sequence", 1)},
		{"put announcements of a deleted toggle", "PutItem", put("p4", "sequence", 1)},
		{"statements", "BatchExecuteStatement", m{"Statements": []any{
			m{"Statement": clearAnnouncements, "Parameters": []any{encoded("p1"), encoded(1)}}, m{"Statement": clearAnnouncements, "Parameters": []any{encoded("p2"), encoded(2)}},
			m{"Statement": clearAnnouncements, "Parameters": []any{encoded("p3"), encoded(1)}}, m{"Statement": removeItem, "Parameters": []any{encoded("p4"), encoded(1)}},
		}}},
		{"unknown operation", "GetItems", m{}},
	} {
		p.call(c.name, c.operation, c.request)
	}
}

// attributesOnly is an attribute value without a type.
type attributesOnly struct{}

const (
	clearAnnouncements = `UPDATE "Features" SET "pending" = [] REMOVE "pendingSince" WHERE "name" = ? AND "sequence" = ?`
	removeItem         = `DELETE FROM "Features" WHERE "name" = ? AND "sequence" = ?`
)
