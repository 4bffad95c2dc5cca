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

// Limits in bytes and of actions (DynamoDB Developer Guide, "Quotas").
const (
	maxItem    = 400 << 10
	maxPage    = 1 << 20
	maxActions = 100
)

// row is an item of a view. The order of keys is the order of reads.
type row struct {
	key  string
	item item
}

type table struct {
	samtemplate.Table
	views   []*view  // the items, what a read shows that is not consistent, and the indexes
	changes []change // the stream
}

// view shows the items with its keys, in their order. A name distinguishes an index.
type view struct {
	samtemplate.Index
	table  *table
	rows   []row
	hidden []change // which the view does not show yet
}

// change is a change of an item.
type change struct {
	key       string
	old, next item
	visible   time.Time
}

// key returns the key of an item's row, and checks the item.
func (t *table) key(i item) string {
	for _, x := range t.views {
		x.check(i, x.Name != "")
	}
	if size(i) > maxItem {
		panic(invalid("Item size has exceeded the maximum allowed size"))
	}
	return t.views[0].key(i)
}

// check checks the attributes of an item that identify its row.
func (x *view) check(i item, optional bool) {
	for _, a := range []samtemplate.Attribute{x.Hash, x.Range} {
		v := order(i[a.Name])
		if a.Name != "" && (!optional || i[a.Name] != nil) && (v == "" || v[:1] != a.Type || v == order(dynamo.S(""))) {
			panic(invalid("One or more parameter values were invalid: the key " + a.Name +
				" is missing, empty or of another type than " + a.Type))
		}
	}
}

// key returns the key of an item's row. The first characters put partitions into an arbitrary order, as DynamoDB does.
func (x *view) key(i item) string {
	key := order(i[x.Hash.Name])
	key = fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(key))) + key + order(i[x.Range.Name])
	if x.Name != "" {
		key += x.table.views[0].key(i)
	}
	return key
}

func (t *table) schema() []m {
	keys := []m{{"AttributeName": t.Hash.Name, "KeyType": "HASH"}}
	if t.Range.Name != "" {
		keys = append(keys, m{"AttributeName": t.Range.Name, "KeyType": "RANGE"})
	}
	return keys
}

// keyNames returns the names of the attributes that identify a row.
func (x *view) keyNames() []string {
	names := []string{x.Hash.Name, x.Range.Name, x.table.Hash.Name, x.table.Range.Name}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
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
func (db *DB) write(t *table, key string, next item) {
	c := change{key, t.views[0].get(key), next, db.now()}
	if reflect.DeepEqual(c.old, next) {
		return
	}
	db.version++
	if t.StreamViewType != "" {
		t.changes = append(t.changes, c)
	}
	db.Written(t.Name, c.old, next)
	t.views[0].apply(c)
	for _, x := range t.views[1:] {
		c := c
		c.visible = c.visible.Add(db.Lag(t.Name, x.Name, key, db.version))
		for _, earlier := range x.hidden { // a view shows the changes of an item in their order
			if earlier.key == key && earlier.visible.After(c.visible) {
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
			shown = only(shown, append(x.keyNames(), x.NonKeyAttributes...)...)
		}
		at, _ := x.search(key)
		x.rows = slices.Insert(x.rows, at, row{key, shown})
	}
}

func (x *view) shows(i item) bool {
	return i[x.Hash.Name] != nil && (x.Range.Name == "" || i[x.Range.Name] != nil)
}
