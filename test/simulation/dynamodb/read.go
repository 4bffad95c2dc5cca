package dynamodb

import (
	"hash/crc32"
	"slices"

	"toggleadmin/pkg/platform/dynamo"
)

// view returns what a read shows.
func (db *DB) view(r *request) *view {
	views := db.table(r.TableName).views
	if r.IndexName == "" && r.ConsistentRead {
		return views[0]
	}
	i := 1 + slices.IndexFunc(views[1:], func(x *view) bool { return x.Name == r.IndexName })
	if i == 0 || r.ConsistentRead {
		panic(invalid("The table does not have the specified index, or the read is consistent: " + r.IndexName))
	}
	views[i].settle(db.now())
	return views[i]
}

func (db *DB) getItem(r *request) m {
	if found := db.view(r).get(db.key(r)); found != nil {
		return m{"Item": found}
	}
	return m{}
}

func (db *DB) batchGetItem(r *request) m {
	responses, known := m{}, map[string]bool{}
	for name, of := range r.RequestItems {
		all := []item{}
		for _, key := range of.Keys {
			one := &request{TableName: name, Key: key, ConsistentRead: of.ConsistentRead}
			encoded := db.key(one)
			if known[name+encoded] {
				panic(invalid("Provided list of item keys contains duplicates"))
			}
			known[name+encoded] = true
			if found := db.view(one).get(encoded); found != nil {
				all = append(all, found)
			}
		}
		responses[name] = all
	}
	if len(known) == 0 || len(known) > maxActions {
		panic(invalid("Too many items requested for the BatchGetItem call"))
	}
	return m{"Responses": responses, "UnprocessedKeys": m{}}
}

// inSegment reports whether a Scan reads a key. Any assignment of keys to segments will do.
func (r *request) inSegment(key string) bool {
	return r.TotalSegments <= 1 || int(crc32.ChecksumIEEE([]byte(key)))%r.TotalSegments == r.Segment
}

// read carries out Query or Scan.
func (db *DB) read(operation string, r *request) m {
	e, x := r.parse(), db.view(r)
	if (operation == "Query") != (r.KeyConditionExpression != nil) || r.Limit != nil && *r.Limit < 1 {
		panic(invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request, and " +
			"a positive limit."))
	}
	rows, backward, start := x.rows, r.ScanIndexForward != nil && !*r.ScanIndexForward, ""
	if backward {
		rows = slices.Clone(rows)
		slices.Reverse(rows)
	}
	if key := r.ExclusiveStartKey; key != nil {
		x.check(key, false)
		if start = x.key(key); len(x.only(key)) != len(key) || !e.keyCondition(key) {
			panic(invalid("The provided starting key is invalid"))
		}
	}
	items, response, scanned, bytes := []item{}, m{}, 0, 0
	for _, row := range rows {
		if start != "" && (row.key == start || row.key < start != backward) || !r.inSegment(row.key) ||
			!e.keyCondition(row.item) {
			continue
		}
		if scanned++; e.filter(row.item) {
			items = append(items, row.item)
		}
		if bytes += size(dynamo.M(row.item)); r.Limit != nil && scanned == *r.Limit || bytes >= maxPage {
			response["LastEvaluatedKey"] = x.only(row.item)
			break
		}
	}
	response["Items"], response["Count"], response["ScannedCount"] = items, len(items), scanned
	return response
}
