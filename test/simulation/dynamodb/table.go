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
	views   []view             // the table and its indexes
	states  map[string][]state // of each item, by its key, in the order of the writes
	changes []change           // the stream
}

// view shows the items that have its keys. A name distinguishes an index.
type view struct {
	samtemplate.Index
	keys []samtemplate.Attribute // which identify a row: those of the index and of the table
}

// state is an item after a write. A view shows the last one that is visible in it. A consistent read shows the last one.
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
	t := &table{Table: definition, states: map[string][]state{}}
	own := samtemplate.Index{Hash: definition.Hash, Range: definition.Range, Projection: "ALL"}
	for _, index := range append([]samtemplate.Index{own}, definition.Indexes...) {
		x := view{index, []samtemplate.Attribute{index.Hash, index.Range}}
		if index.Name != "" {
			x.keys = append(x.keys, definition.Hash, definition.Range)
		}
		x.keys = slices.DeleteFunc(x.keys, func(a samtemplate.Attribute) bool { return a.Name == "" })
		t.views = append(t.views, x)
	}
	db.tables[definition.Name] = t
	return t
}

// key returns the key of an item, and checks its attributes that are keys of indexes.
func (t *table) key(i item) string {
	for _, x := range t.views {
		for _, a := range x.keys {
			if i[a.Name] != nil {
				keyPart(i, a)
			}
		}
	}
	return t.views[0].key(i)
}

// key returns the key of an item's row. The order of keys is the order of reads. The first characters put partitions
// into an arbitrary order, as DynamoDB does.
func (x *view) key(i item) string {
	parts := []string{fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(keyPart(i, x.Hash))))}
	for _, a := range x.keys {
		parts = append(parts, keyPart(i, a))
	}
	return strings.Join(parts, "")
}

func keyPart(i item, a samtemplate.Attribute) string {
	part := order(i[a.Name])
	require(strings.HasPrefix(part, a.Type) && part != order(dynamo.S("")),
		"One or more parameter values were invalid: a key is missing, empty or of another type: "+a.Name)
	return part
}

// has reports whether the view has an item.
func (x *view) has(i item) bool {
	return !slices.ContainsFunc(x.keys, func(a samtemplate.Attribute) bool { return i[a.Name] == nil })
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

// write stores the change of an item in the table, its indexes and its stream.
func (db *DB) write(c change) {
	if reflect.DeepEqual(c.old, c.next) {
		return
	}
	db.version++
	t, now := c.table, db.now()
	if c.at = now; t.StreamViewType != "" {
		t.changes = append(t.changes, c)
	}
	db.Written(t.Name, c.old, c.next)
	earlier, next := t.states[c.key], state{item: c.next}
	for n, x := range t.views {
		visible := now.Add(db.Lag(t.Name, x.Name, c.key, db.version))
		if len(earlier) > 0 { // a view shows the states of an item in their order
			last := earlier[len(earlier)-1].visible[n]
			if last.After(visible) {
				visible = last
			}
		}
		next.visible = append(next.visible, visible)
	}
	t.states[c.key] = append(slices.Clip(earlier), next)
}
