package dynamodb_test

import (
	"testing"
)

func BenchmarkDo(b *testing.B) {
	db := newFake(b)
	update := marshal(b, m{"TransactItems": []any{m{"Update": with(m{
		"TableName": "Features", "Key": attributes{"name": "a"}, "UpdateExpression": "SET #new = if_not_exists(n, :n) + :one, #s = :s REMOVE nothing",
		"ConditionExpression": "attribute_not_exists(nothing) AND (#s = :s OR attribute_not_exists(#s))",
	}, "#new #s :n :one :s")}}})
	get := marshal(b, m{"TableName": "Features", "Key": attributes{"name": "a"}, "ConsistentRead": true})
	query := marshal(b, m{
		"TableName": "Features", "IndexName": "staleness", "KeyConditionExpression": "staleness = :s AND createdAt > :c",
		"ExpressionAttributeValues": attributes{":s": "x", ":c": "y"}, "Limit": 80,
	})
	for range b.N {
		db.Do("TransactWriteItems", update)
		db.Do("GetItem", get)
		db.Do("Query", query)
	}
}
