package dynamodb

import (
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
)

type table struct {
	samtemplate.Table
	views   []view             // the table and its indexes
	types   map[string]string  // of all attributes that are keys of the table or an index
	states  map[string][]state // of each item, by its key, in the order of the writes
	changes []change           // the stream
}

// view shows the items that have its keys. A name distinguishes an index.
type view struct {
	samtemplate.Index
	keys []string // the attributes that identify a row: those of the index and of the table
}

// state is an item after a write. A view shows the last one that is visible in it, and a consistent read the last one.
type state struct {
	item    item
	visible []time.Time
}

// change is a change of an item.
type change struct {
	table     *table
	key       string
	old, next item
	at        time.Time
}

func (db *DB) create(definition samtemplate.Table) *table {
	t := &table{Table: definition, types: map[string]string{}, states: map[string][]state{}}
	own := samtemplate.Index{Hash: definition.Hash, Range: definition.Range, Projection: "ALL"}
	for _, index := range append([]samtemplate.Index{own}, definition.Indexes...) {
		x := view{Index: index}
		for _, a := range []samtemplate.Attribute{index.Hash, index.Range, definition.Hash, definition.Range} {
			if a.Name != "" && !slices.Contains(x.keys, a.Name) {
				x.keys, t.types[a.Name] = append(x.keys, a.Name), a.Type
			}
		}
		t.views = append(t.views, x)
	}
	db.tables[definition.Name] = t
	return t
}

// key returns the key of an item, and checks its attributes that are keys of the table and of indexes.
func (t *table) key(i item) string {
	for name, kind := range t.types {
		v := order(i[name])
		require(i[name] == nil || strings.HasPrefix(v, kind) && v != order(dynamo.S("")),
			"One or more parameter values were invalid: a key is empty or of another type: "+name)
	}
	key := t.views[0].key(i)
	require(key != "", "One or more parameter values were invalid: Missing the key")
	return key
}

// key returns the key of an item's row, or nothing if the view does not have the item. The order of keys is the order
// of reads. The first characters put partitions into an arbitrary order, as DynamoDB does.
func (x *view) key(i item) string {
	parts := []string{fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(order(i[x.Hash.Name]))))}
	for _, name := range x.keys {
		if i[name] == nil {
			return ""
		}
		parts = append(parts, order(i[name]))
	}
	return strings.Join(parts, "")
}

func (t *table) schema() (keys []m) {
	for _, name := range t.views[0].keys {
		keys = append(keys, m{"AttributeName": name})
	}
	return keys
}

// only returns the attributes of an item that identify its row, and those with other names.
func (x *view) only(i item, others ...string) item {
	part := item{}
	for _, name := range slices.Concat(x.keys, others) {
		if i[name] != nil {
			part[name] = i[name]
		}
	}
	return part
}

// write stores the change of an item in the table, its indexes and its stream.
func (db *DB) write(c change) {
	if reflect.DeepEqual(c.old, c.next) {
		return
	}
	db.version++
	t := c.table
	c.at = db.now()
	t.changes = append(t.changes, c)
	if db.Written != nil {
		db.Written(t.Name, c.old, c.next)
	}
	earlier, next := t.states[c.key], state{item: c.next}
	for n, x := range t.views {
		visible := c.at
		if db.Lag != nil {
			visible = visible.Add(db.Lag(t.Name, x.Name, c.key, db.version))
		}
		for _, s := range earlier { // a view shows the states of an item in their order
			if s.visible[n].After(visible) {
				visible = s.visible[n]
			}
		}
		next.visible = append(next.visible, visible)
	}
	t.states[c.key] = append(slices.Clip(earlier), next)
}
