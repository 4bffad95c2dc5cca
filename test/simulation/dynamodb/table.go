package dynamodb

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/local/samtemplate"
)

// Limits in bytes and of actions (DynamoDB Developer Guide, "Quotas").
const (
	maxItem        = 400 << 10
	maxPage        = 1 << 20
	maxTransaction = 4 << 20
	maxActions     = 100
)

// row is an item of a table or index. The order of keys is the order of reads.
type row struct {
	key  string
	item item
}

type rows []row

func (r rows) search(key string) (int, bool) {
	return slices.BinarySearchFunc(r, key, func(r row, key string) int { return strings.Compare(r.key, key) })
}

func (r rows) get(key string) item {
	if at, found := r.search(key); found {
		return r[at].item
	}
	return nil
}

// put writes an item; nil deletes it.
func (r *rows) put(key string, i item) {
	at, found := r.search(key)
	switch {
	case i == nil && found:
		*r = slices.Delete(*r, at, at+1)
	case found:
		(*r)[at].item = i
	case i != nil:
		*r = slices.Insert(*r, at, row{key, i})
	}
}

type table struct {
	samtemplate.Table
	rows    rows
	indexes []*index
	records []record
	recent  []change // the items before the last writes, until all reads show these
}

type index struct {
	samtemplate.Index
	rows    rows
	at      map[string]string // index keys of items
	pending []change
	last    map[string]time.Time // when the last change of an item is visible
}

// read returns the rows that a read sees: if it is not consistent, without the last writes.
func (t *table) read(consistent bool, now time.Time) rows {
	if consistent || len(t.recent) == 0 {
		return t.rows
	}
	seen := slices.Clone(t.rows)
	for _, c := range slices.Backward(t.recent) {
		if c.visible.After(now) {
			seen.put(c.key, c.item)
		}
	}
	return seen
}

// change is a write that an index does not show yet.
type change struct {
	key     string
	item    item
	visible time.Time
}

// record is a change of an item in the stream.
type record struct {
	key, old, new item
	at            time.Time
}

// position returns the key of the row of an item, and checks the item and its keys.
func (t *table) position(i item) string {
	for _, x := range t.indexes {
		x.position(i, true)
	}
	if i.size() > maxItem {
		panic(invalid("Item size has exceeded the maximum allowed size"))
	}
	return position(i, t.Hash, t.Range, false)
}

func (x *index) position(i item, optional bool) string { return position(i, x.Hash, x.Range, optional) }

// position returns the key of a row. The first bytes put partitions into an arbitrary order, as DynamoDB does.
func position(i item, hash, sort samtemplate.Attribute, optional bool) string {
	key := ""
	for _, a := range []samtemplate.Attribute{hash, sort} {
		v, ok := i.get(a.Name)
		if a.Name != "" && (ok || !optional) && (v.kind != a.Type || v.text == "") {
			panic(invalid("One or more parameter values were invalid: the key " + a.Name +
				" is missing, empty or of another type than " + a.Type))
		}
		if ok && key == "" {
			h := fnv.New32a()
			_, _ = h.Write([]byte(v.key()))
			key = string(h.Sum(nil))
		}
		if ok {
			key += v.key()
		}
	}
	return key
}

func (t *table) keyNames() []string { return keyNames(t.Hash, t.Range) }

func keyNames(hash, sort samtemplate.Attribute) []string {
	if sort.Name == "" {
		return []string{hash.Name}
	}
	return []string{hash.Name, sort.Name}
}

func (t *table) get(key string) item { return t.rows.get(key) }

// write stores the change of an item in the table, its indexes and its stream.
func (db *DB) write(t *table, key string, next item) {
	old := t.get(key)
	if old.equal(next) && (old == nil) == (next == nil) {
		return
	}
	t.rows.put(key, next)
	db.version++
	now := db.now()
	if db.Lag != nil {
		t.recent = slices.DeleteFunc(t.recent, func(c change) bool { return !c.visible.After(now) })
		if lag := db.Lag(t.Name, "", key, db.version); lag > 0 {
			t.recent = append(t.recent, change{key, old, now.Add(lag)})
		}
	}
	if t.StreamViewType != "" {
		either := next
		if next == nil {
			either = old
		}
		t.records = append(t.records, record{either.only(t.keyNames()...), old, next, now})
	}
	if db.Written != nil {
		db.Written(t.Name, old.decoded(), next.decoded())
	}
	for _, x := range t.indexes {
		if db.Lag == nil {
			x.apply(t, change{key: key, item: next})
			continue
		}
		c := change{key, next, now.Add(db.Lag(t.Name, x.Name, key, db.version))}
		if last := x.last[key]; c.visible.Before(last) { // an index shows the changes of an item in their order
			c.visible = last
		}
		x.last[key] = c.visible
		x.pending = append(x.pending, c)
		x.settle(t, now)
	}
}

// settle applies the changes that are visible.
func (x *index) settle(t *table, now time.Time) {
	x.pending = slices.DeleteFunc(x.pending, func(c change) bool {
		if c.visible.After(now) {
			return false
		}
		if x.last[c.key].Equal(c.visible) {
			delete(x.last, c.key)
		}
		x.apply(t, c)
		return true
	})
}

func (x *index) apply(t *table, c change) {
	if at, found := x.at[c.key]; found {
		x.rows.put(at, nil)
		delete(x.at, c.key)
	}
	if len(c.item.only(x.Hash.Name, x.Range.Name)) < len(x.keyNames()) {
		return
	}
	shown := c.item
	if x.Projection != "ALL" {
		shown = shown.only(slices.Concat(t.keyNames(), x.keyNames(), x.NonKeyAttributes)...)
	}
	x.at[c.key] = x.position(c.item, true) + c.key
	x.rows.put(x.at[c.key], shown)
}

func (x *index) keyNames() []string { return keyNames(x.Hash, x.Range) }
