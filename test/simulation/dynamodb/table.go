package dynamodb

import (
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/platform/dynamo"
)

type table struct {
	samtemplate.Table
	views   []*view  // the items, what a read shows that is not consistent, and the indexes
	changes []change // the stream
}

// view shows the items with its keys, in their order. A name distinguishes an index.
type view struct {
	samtemplate.Index
	keys   []samtemplate.Attribute // which identify a row: those of the index and of the table
	rows   []row
	hidden []change // which the view does not show yet
}

// row is an item of a view. The order of keys is the order of reads.
type row struct {
	key  string
	item item
}

// change is a change of an item.
type change struct {
	table     *table
	key       string
	old, next item
	visible   time.Time
}

func (db *DB) create(definition samtemplate.Table) *table {
	t := &table{Table: definition}
	own := samtemplate.Index{Hash: definition.Hash, Range: definition.Range, Projection: "ALL"}
	for _, index := range append([]samtemplate.Index{own, own}, definition.Indexes...) {
		x := &view{Index: index, keys: []samtemplate.Attribute{index.Hash, index.Range}}
		if index.Name != "" {
			x.keys = append(x.keys, definition.Hash, definition.Range)
		}
		x.keys = slices.DeleteFunc(x.keys, func(a samtemplate.Attribute) bool { return a.Name == "" })
		t.views = append(t.views, x)
	}
	db.tables[definition.Name] = t
	return t
}

// key returns the key of an item's row, and checks the item.
func (t *table) key(i item) string {
	for _, x := range t.views[1:] {
		x.check(i, x.Name != "")
	}
	return t.views[0].key(i)
}

// check checks the attributes of an item that identify its row.
func (x *view) check(i item, optional bool) {
	for _, a := range x.keys {
		v := order(i[a.Name])
		if (!optional || i[a.Name] != nil) && (v == "" || v[:1] != a.Type || v == order(dynamo.S(""))) {
			panic(invalid("One or more parameter values were invalid: the key " + a.Name +
				" is missing, empty or of another type than " + a.Type))
		}
	}
}

// key returns the key of an item's row. The first characters put partitions into an arbitrary order, as DynamoDB does.
func (x *view) key(i item) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%08x", crc32.ChecksumIEEE([]byte(order(i[x.Hash.Name]))))
	for _, a := range x.keys {
		key.WriteString(order(i[a.Name]))
	}
	return key.String()
}

func (t *table) schema() (keys []m) {
	for i, a := range t.views[0].keys {
		keys = append(keys, m{"AttributeName": a.Name, "KeyType": []string{"HASH", "RANGE"}[i]})
	}
	return keys
}

// only returns the attributes of an item that identify its row, and those with other names.
func (x *view) only(i item, others ...string) item {
	for _, a := range x.keys {
		others = append(others, a.Name)
	}
	part := item{}
	for _, name := range others {
		if i[name] != nil {
			part[name] = i[name]
		}
	}
	return part
}

func (x *view) search(key string) (int, bool) {
	return slices.BinarySearchFunc(x.rows, key, func(r row, key string) int { return strings.Compare(r.key, key) })
}

func (x *view) get(key string) item {
	if at, found := x.search(key); found {
		return x.rows[at].item
	}
	return nil
}

// write stores the change of an item in the table, its indexes and its stream.
func (db *DB) write(c change) {
	if reflect.DeepEqual(c.old, c.next) {
		return
	}
	db.version++
	t := c.table
	if c.visible = db.now(); t.StreamViewType != "" {
		t.changes = append(t.changes, c)
	}
	db.Written(t.Name, c.old, c.next)
	t.views[0].apply(c)
	for _, x := range t.views[1:] {
		c := c
		c.visible = c.visible.Add(db.Lag(t.Name, x.Name, c.key, db.version))
		for _, earlier := range x.hidden { // a view shows the changes of an item in their order
			if earlier.key == c.key && earlier.visible.After(c.visible) {
				c.visible = earlier.visible
			}
		}
		x.hidden = append(x.hidden, c)
		x.settle(db.now())
	}
}

// settle applies the changes that are visible.
func (x *view) settle(now time.Time) {
	x.hidden = slices.DeleteFunc(x.hidden, func(c change) bool {
		if c.visible.After(now) {
			return false
		}
		x.apply(c)
		return true
	})
}

func (x *view) apply(c change) {
	if x.shows(c.old) {
		at, _ := x.search(x.key(c.old))
		x.rows = slices.Delete(x.rows, at, at+1)
	}
	if x.shows(c.next) {
		key, shown := x.key(c.next), c.next
		if x.Projection != "ALL" {
			shown = x.only(shown, x.NonKeyAttributes...)
		}
		at, _ := x.search(key)
		x.rows = slices.Insert(x.rows, at, row{key, shown})
	}
}

func (x *view) shows(i item) bool { return len(x.only(i)) == len(x.keys) }
