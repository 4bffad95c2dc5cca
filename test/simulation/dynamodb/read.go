package dynamodb

import (
	"hash/crc32"
	"slices"
)

// view returns what a read shows.
func (db *DB) view(t *table, index string, consistent bool) *view {
	if index == "" && consistent {
		return t.views[0]
	}
	i := 1 + slices.IndexFunc(t.views[1:], func(x *view) bool { return x.Name == index })
	if i == 0 || consistent {
		panic(invalid("The table does not have the specified index, or the read is consistent: " + index))
	}
	t.views[i].settle(db.now())
	return t.views[i]
}

func (db *DB) getItem(r *request) m {
	t, key := db.target(r)
	if found := db.view(t, "", r.ConsistentRead).get(key); found != nil {
		return m{"Item": found}
	}
	return m{}
}

func (db *DB) batchGetItem(r *request) m {
	responses, known := m{}, map[string]bool{}
	for name, of := range r.RequestItems {
		all := []item{}
		for _, of := range of.Keys {
			t, key := db.target(&request{TableName: name, Key: of})
			if known[name+key] {
				panic(invalid("Provided list of item keys contains duplicates"))
			}
			known[name+key] = true
			if found := db.view(t, "", r.RequestItems[name].ConsistentRead).get(key); found != nil {
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
	r.compile(db)
	t := db.table(r.TableName)
	x := db.view(t, r.IndexName, r.ConsistentRead)
	if (operation == "Query") != (r.keyCondition != nil) || r.Limit != nil && *r.Limit < 1 {
		panic(invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request, and " +
			"a positive limit."))
	}
	from, backward, start := x.rows, r.ScanIndexForward != nil && !*r.ScanIndexForward, ""
	if backward {
		from = slices.Clone(from)
		slices.Reverse(from)
	}
	if key := r.ExclusiveStartKey; key != nil {
		x.check(key, false)
		t.views[0].check(key, false)
		if start = x.key(key); len(only(key, x.keyNames()...)) != len(key) ||
			!r.keyCondition.holds(r.scope(key)) {
			panic(invalid("The provided starting key is invalid"))
		}
	}
	items, response, scanned, bytes := []item{}, m{}, 0, 0
	for _, row := range from {
		if start != "" && (row.key == start || row.key < start != backward) || !r.inSegment(row.key) ||
			!r.keyCondition.holds(r.scope(row.item)) {
			continue
		}
		scanned++
		if r.filter.holds(r.scope(row.item)) {
			items = append(items, row.item)
		}
		bytes += size(row.item)
		if r.Limit != nil && scanned == *r.Limit || bytes >= maxPage {
			response["LastEvaluatedKey"] = only(row.item, x.keyNames()...)
			break
		}
	}
	response["Items"], response["Count"], response["ScannedCount"] = items, len(items), scanned
	return response
}
