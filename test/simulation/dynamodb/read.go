package dynamodb

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
)

func (db *DB) getItem(r *request) []byte {
	t, key := db.target(r)
	if found := t.read(r.ConsistentRead, db.now()).get(key); found != nil {
		return append(found.append([]byte(`{"Item":`)), '}')
	}
	return []byte("{}")
}

func (db *DB) batchGetItem(r *request) []byte {
	b, n := []byte(`{"Responses":{`), 0
	for i, name := range slices.Sorted(maps.Keys(r.RequestItems)) {
		t, separator := db.table(name), ""
		if i > 0 {
			b = append(b, ',')
		}
		b = append(quote(b, name), ":["...)
		known, seen := map[string]bool{}, t.read(r.RequestItems[name].ConsistentRead, db.now())
		for _, of := range r.RequestItems[name].Keys {
			_, key := db.target(&request{TableName: name, Key: of})
			if known[key] {
				panic(invalid("Provided list of item keys contains duplicates"))
			}
			known[key] = true
			n++
			if found := seen.get(key); found != nil {
				b = found.append(append(b, separator...))
				separator = ","
			}
		}
		b = append(b, ']')
	}
	if n == 0 || n > maxActions {
		panic(invalid("Too many items requested for the BatchGetItem call"))
	}
	return append(b, `},"UnprocessedKeys":{}}`...)
}

// inSegment reports whether a Scan reads a key. Any assignment of keys to segments will do.
func (r *request) inSegment(key string) bool {
	if r.TotalSegments <= 1 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // never fails
	return int(h.Sum32())%r.TotalSegments == r.Segment
}

// read carries out Query or Scan.
func (db *DB) read(r *request) []byte {
	r.compile(db)
	t := db.table(r.TableName)
	from, names, at := t.read(r.ConsistentRead, db.now()), t.keyNames(), t.position
	if r.IndexName != "" {
		n := slices.IndexFunc(t.indexes, func(x *index) bool { return x.Name == r.IndexName })
		if n < 0 || r.ConsistentRead {
			panic(invalid("The table does not have the specified index, or the read is consistent: " + r.IndexName))
		}
		x := t.indexes[n]
		x.settle(t, db.now())
		from, names = x.rows, append(names, x.keyNames()...)
		at = func(i item) string { return x.position(i, false) + t.position(i) }
	}
	if (r.operation == "Query") != (r.keyCondition != nil) || r.Limit != nil && *r.Limit < 1 {
		panic(invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request, and " +
			"a positive limit."))
	}
	backward, start := r.ScanIndexForward != nil && !*r.ScanIndexForward, ""
	if backward {
		from = slices.Clone(from)
		slices.Reverse(from)
	}
	if r.ExclusiveStartKey != nil {
		if start = at(r.ExclusiveStartKey); len(r.ExclusiveStartKey.only(names...)) != len(r.ExclusiveStartKey) ||
			r.keyCondition != nil && !r.keyCondition(r.scope(r.ExclusiveStartKey)) {
			panic(invalid("The provided starting key is invalid"))
		}
	}
	b, count, scanned, size, more := []byte(`{"Items":[`), 0, 0, 0, item(nil)
	for _, row := range from {
		if !r.inSegment(row.key) {
			continue
		}
		if r.keyCondition != nil && !r.keyCondition(r.scope(row.item)) || start != "" &&
			(row.key == start || row.key < start != backward) {
			continue
		}
		scanned++
		if r.filter == nil || r.filter(r.scope(row.item)) {
			if count > 0 {
				b = append(b, ',')
			}
			b = row.item.append(b)
			count++
		}
		size += row.item.size()
		if r.Limit != nil && scanned == *r.Limit || size >= maxPage {
			more = row.item.only(names...)
			break
		}
	}
	b = fmt.Appendf(b, `],"Count":%d,"ScannedCount":%d`, count, scanned)
	if more != nil {
		b = more.append(append(b, `,"LastEvaluatedKey":`...))
	}
	return append(b, '}')
}
