package dynamodb

import (
	"maps"
	"slices"
	"strconv"

	"toggleadmin/pkg/samtemplate"
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

// end is after all keys that continue a key.
const end = "\xff"

// read carries out Query or Scan.
func (db *DB) read(r *request) []byte {
	r.compile(db)
	t := db.table(r.TableName)
	from, hash, sort, names := t.read(r.ConsistentRead, db.now()), t.Hash, t.Range, t.keyNames()
	at := func(i item) string { return position(i, t.Hash, t.Range) }
	if r.IndexName != "" {
		n := slices.IndexFunc(t.indexes, func(x *index) bool { return x.Name == r.IndexName })
		if n < 0 {
			panic(invalid("The table does not have the specified index: " + r.IndexName))
		}
		if r.ConsistentRead {
			panic(invalid("Consistent reads are not supported on global secondary indexes"))
		}
		x := t.indexes[n]
		x.settle(t, db.now())
		from, hash, sort, names = x.rows, x.Hash, x.Range, append(names, x.keyNames()...)
		at = func(i item) string { return position(i, x.Hash, x.Range) + position(i, t.Hash, t.Range) }
	}
	low, high := "", end+end+end+end+end
	if r.operation == "Query" {
		if r.compiled.keyCondition == nil {
			panic(invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."))
		}
		low, high = r.bounds(r.compiled.keyCondition.terms, hash, sort)
		if f := r.compiled.filter; f != nil {
			for _, token := range f.paths {
				if name := r.scope(nil).name(token); name == hash.Name || name == sort.Name {
					panic(invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: " + name))
				}
			}
		}
	}
	forward := r.ScanIndexForward == nil || *r.ScanIndexForward
	if start := r.ExclusiveStartKey; start != nil {
		for _, a := range []samtemplate.Attribute{t.Hash, t.Range, hash, sort} {
			if v, ok := start.get(a.Name); slices.Contains(names, a.Name) && (!ok || v.kind != a.Type) {
				panic(invalid("The provided starting key is invalid"))
			}
		}
		if len(start.only(names...)) != len(start) {
			panic(invalid("The provided starting key is invalid"))
		}
		key := at(start)
		if key < low || key >= high {
			panic(invalid("The provided starting key is outside query boundaries based on provided conditions"))
		}
		if forward {
			low = key + end
		} else {
			high = key
		}
	}
	if r.Limit != nil && *r.Limit < 1 {
		panic(invalid("1 validation error detected: Value at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"))
	}
	first, _ := from.search(low)
	last, _ := from.search(high)
	b, count, scanned, size, more := []byte(`{"Items":[`), 0, 0, 0, item(nil)
	for n := range last - first {
		i := from[first+n].item
		if !forward {
			i = from[last-1-n].item
		}
		scanned++
		if f := r.compiled.filter; f == nil || f.condition(r.scope(i)) {
			if count > 0 {
				b = append(b, ',')
			}
			b = i.append(b)
			count++
		}
		size += i.size()
		if r.Limit != nil && scanned == *r.Limit || size >= maxPage {
			more = i.only(names...)
			break
		}
	}
	b = strconv.AppendInt(append(b, `],"Count":`...), int64(count), 10)
	b = strconv.AppendInt(append(b, `,"ScannedCount":`...), int64(scanned), 10)
	if more != nil {
		b = more.append(append(b, `,"LastEvaluatedKey":`...))
	}
	return append(b, '}')
}

// bounds returns the keys from low to before high that a key condition selects.
func (r *request) bounds(terms []term, hash, sort samtemplate.Attribute) (low, high string) {
	scope := r.scope(nil)
	by := map[string]term{}
	for _, t := range terms {
		by[scope.name(t.name)] = t
	}
	h, ok := by[hash.Name]
	if !ok || h.operator != "=" {
		panic(invalid("Query condition missed key schema element: " + hash.Name))
	}
	values := func(t term, a samtemplate.Attribute) (keys []string) {
		for _, token := range t.values {
			v, _ := r.ExpressionAttributeValues.get(token)
			if v.kind != a.Type {
				panic(invalid("One or more parameter values were invalid: Condition parameter type does not match schema type"))
			}
			checkKey(a.Name, v, true)
			keys = append(keys, v.key())
		}
		return keys
	}
	low = shuffled(values(h, hash)[0])
	s, ranged := by[sort.Name]
	if len(by) != len(terms) || len(terms) > 2 || ranged != (len(terms) == 2) {
		panic(invalid("Query key condition not supported"))
	}
	if !ranged {
		return low, low + end
	}
	keys := values(s, sort)
	switch s.operator {
	case "=":
		return low + keys[0], low + keys[0] + end
	case "<":
		return low, low + keys[0]
	case "<=":
		return low, low + keys[0] + end
	case ">":
		return low + keys[0] + end, low + end
	case ">=":
		return low + keys[0], low + end
	case "BETWEEN":
		return low + keys[0], low + keys[1] + end
	}
	panic(invalid("Query key condition not supported"))
}
