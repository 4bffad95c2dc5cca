package samtemplate

import (
	"maps"
	"slices"
)

func readTable(d *decoder, found *resource) Table {
	o := d.object(found.properties)
	o.must("BillingMode", "PAY_PER_REQUEST")
	attributes := readAttributes(d, o)
	used := map[string]bool{}
	t := Table{LogicalID: found.id, Name: found.id}
	t.Hash, t.Range = readKey(d, o, attributes, used)
	for _, item := range o.list("GlobalSecondaryIndexes") {
		t.Indexes = append(t.Indexes, readIndex(d, item, attributes, used))
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if !used[name] {
			d.fail(o.n, "AttributeDefinitions: %s is in no key", name)
		}
	}
	if stream := o.child("StreamSpecification"); len(stream.n.keys) > 0 {
		t.StreamViewType = stream.needText("StreamViewType")
		stream.done()
	}
	if ttl := o.child("TimeToLiveSpecification"); len(ttl.n.keys) > 0 {
		t.TTLAttribute = ttl.needText("AttributeName")
		if ttl.needText("Enabled") != "true" {
			t.TTLAttribute = ""
		}
		ttl.done()
	}
	o.notPlayed("DeletionProtectionEnabled", "PointInTimeRecoverySpecification", "SSESpecification", "TableClass", "Tags")
	o.done()
	return t
}

// readAttributes gives the types of the attributes that keys may use.
func readAttributes(d *decoder, o *object) map[string]string {
	types := map[string]string{}
	for _, item := range o.list("AttributeDefinitions") {
		attribute := d.object(item)
		name, typ := attribute.needText("AttributeName"), attribute.needText("AttributeType")
		attribute.done()
		if !slices.Contains([]string{"S", "N", "B"}, typ) {
			d.fail(item, "the attribute type %q is not known", typ)
		}
		types[name] = typ
	}
	return types
}

// readKey reads KeySchema: the hash key, then perhaps a range key.
func readKey(d *decoder, o *object, types map[string]string, used map[string]bool) (hash, sort Attribute) {
	keys := o.list("KeySchema")
	if len(keys) < 1 || len(keys) > 2 {
		d.fail(o.n, "KeySchema must have one or two keys")
		return hash, sort
	}
	for i, item := range keys {
		key := d.object(item)
		name, typ := key.needText("AttributeName"), key.needText("KeyType")
		key.done()
		if want := []string{"HASH", "RANGE"}[i]; typ != want {
			d.fail(item, "KeyType must be %s here, not %q", want, typ)
		}
		if types[name] == "" {
			d.fail(item, "%q is not in AttributeDefinitions", name)
		}
		used[name] = true
		attribute := Attribute{Name: name, Type: types[name]}
		if i == 0 {
			hash = attribute
		} else {
			sort = attribute
		}
	}
	return hash, sort
}

func readIndex(d *decoder, n *node, types map[string]string, used map[string]bool) Index {
	o := d.object(n)
	index := Index{Name: o.needText("IndexName")}
	index.Hash, index.Range = readKey(d, o, types, used)
	projection := d.object(o.need("Projection"))
	index.Projection = projection.needText("ProjectionType")
	index.NonKeyAttributes = projection.texts("NonKeyAttributes")
	projection.done()
	o.done()
	if !slices.Contains([]string{"ALL", "KEYS_ONLY", "INCLUDE"}, index.Projection) {
		d.fail(n, "the projection %q is not known", index.Projection)
	}
	return index
}
