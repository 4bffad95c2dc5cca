package dynamodb

import (
	"cmp"
	"hash/crc32"
	"maps"
	"slices"

	"toggleadmin/pkg/platform/dynamo"
)

// find returns the item that a request reads or writes: its table and key, and as old the state that a read shows.
func (db *DB) find(r *request, consistent bool) change {
	t, i := db.table(r.TableName), r.Item
	if i == nil {
		i = r.Key
		require(len(t.views[0].only(i)) == len(i), "The provided key element does not match the schema")
	}
	key := t.key(i)
	return change{table: t, key: key, old: db.shown(t.states[key], 0, consistent)}
}

// shown returns the state of an item that the n-th view of its table shows.
func (db *DB) shown(states []state, n int, consistent bool) item {
	for _, s := range slices.Backward(states) {
		if consistent || !s.visible[n].After(db.now()) {
			return s.item
		}
	}
	return nil
}

func (db *DB) getItem(r *request) m {
	if found := db.find(r, r.ConsistentRead).old; found != nil {
		return m{"Item": found}
	}
	return m{}
}

func (db *DB) batchGetItem(r *request) m {
	responses, unprocessed, known := m{}, m{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r.RequestItems)) {
		of := r.RequestItems[name]
		all, left := []item{}, []item{}
		for _, key := range of.Keys {
			c := db.find(&request{TableName: name, Key: key}, of.ConsistentRead)
			require(!known[name+c.key], "Provided list of item keys contains duplicates")
			known[name+c.key] = true
			switch {
			case db.Page > 0 && len(known) > db.Page:
				left = append(left, key)
			case c.old != nil:
				all = append(all, c.old)
			}
		}
		responses[name] = all
		if len(left) > 0 {
			unprocessed[name] = m{"Keys": left, "ConsistentRead": of.ConsistentRead}
		}
	}
	require(len(known) > 0 && len(known) <= maxActions, "Too many items requested for the BatchGetItem call")
	return m{"Responses": responses, "UnprocessedKeys": unprocessed}
}

// rows returns the view that Query or Scan reads, and the items that it reads, by the keys of their rows.
func (db *DB) rows(r *request) (*view, map[string]item) {
	t, rows := db.table(r.TableName), map[string]item{}
	n := slices.IndexFunc(t.views, func(x view) bool { return x.Name == r.IndexName })
	require(n == 0 || n > 0 && !r.ConsistentRead,
		"The table does not have the specified index, or the read is consistent: "+r.IndexName)
	x, partition := &t.views[n], r.partition(t.views[n].Hash.Name)
	for key, states := range t.states {
		i := db.shown(states, n, r.ConsistentRead)
		if i == nil || partition != nil && !compare(i[x.Hash.Name], "=", partition) || !r.inSegment(key) {
			continue
		}
		if n > 0 {
			key = x.key(i)
		}
		if key != "" && r.holds(r.KeyConditionExpression, i) {
			rows[key] = i
		}
	}
	return x, rows
}

// partition returns the value that the condition of a Query requires of the attribute hash, or nil.
func (r *request) partition(hash string) value {
	for i, token := range r.KeyConditionExpression {
		if cmp.Or(r.ExpressionAttributeNames[token], token) == hash && r.KeyConditionExpression[i+1] == "=" {
			return r.ExpressionAttributeValues[r.KeyConditionExpression[i+2]]
		}
	}
	return nil
}

// inSegment reports whether an item is in the segment that a Scan reads. This distribution is as good as any other.
func (r *request) inSegment(key string) bool {
	return r.TotalSegments < 2 || int(crc32.ChecksumIEEE([]byte(key)))%r.TotalSegments == r.Segment
}

// read carries out Query or Scan.
func (db *DB) read(operation string, r *request) m {
	r.check()
	require((operation == "Query") == (r.KeyConditionExpression != nil) && r.Limit > 0, "Either the KeyConditions or "+
		"KeyConditionExpression parameter must be specified in the request, and a positive limit.")
	x, rows := db.rows(r)
	keys, start := slices.Sorted(maps.Keys(rows)), ""
	if !r.ScanIndexForward {
		slices.Reverse(keys)
	}
	if key := r.ExclusiveStartKey; key != nil {
		db.table(r.TableName).key(key) // checks it
		start = x.key(key)
		require(start != "" && len(x.only(key)) == len(key) && r.holds(r.KeyConditionExpression, key),
			"The provided starting key is invalid")
	}
	items, response, scanned, bytes := []item{}, m{}, 0, 0
	for _, key := range keys {
		if start != "" && (key == start || key > start != r.ScanIndexForward) {
			continue
		}
		i := rows[key]
		if x.Projection != "ALL" {
			i = x.only(i, x.NonKeyAttributes...)
		}
		if scanned++; r.holds(r.FilterExpression, i) {
			items = append(items, r.project(i))
		}
		if bytes += size(dynamo.M(i)); scanned == r.Limit || scanned == db.Page || bytes >= maxPage {
			response["LastEvaluatedKey"] = x.only(i)
			break
		}
	}
	response["Count"], response["ScannedCount"] = len(items), scanned
	if r.Select != "COUNT" {
		response["Items"] = items
	}
	return response
}
