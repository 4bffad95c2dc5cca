package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// damage is what happens to items of toggles and segments that nothing in the service does. Nobody else acts meanwhile.
type damage struct {
	*World
	environment string
	process     *process
	client      *sdk.Client
	added       []*sdk.DeleteItemInput // of items that are deleted in the end
}

func (w *World) newDamage(environment string) *damage {
	w.restores.copying = true // nobody else changes toggles in this way
	p := w.newProcess("operator/damage")
	p.direct = true
	client, err := dynamo.NewClient(p.config(), "")
	w.must(err)
	return &damage{World: w, environment: environment, process: p, client: client}
}

// store writes an item.
func (d *damage) store(table string, item dynamo.Item) {
	_, err := d.client.PutItem(context.Background(), &sdk.PutItemInput{TableName: &table, Item: item})
	d.must(err)
}

// add writes an item until the end.
func (d *damage) add(table string, item, key dynamo.Item) {
	d.store(table, item)
	d.added = append(d.added, &sdk.DeleteItemInput{TableName: &table, Key: key})
}

// compile returns the next snapshot.
func (d *damage) compile() snapshot.Document {
	if err := d.compiler(d.client, d.process, d.process.now).Compile(context.Background(), d.environment); err != nil {
		d.fail("%s is not compiled, although only one item cannot be read: %v", d.environment, err)
	}
	document, err := d.document(d.pointer(d.environment))
	if err != nil {
		d.fail("the snapshot of %s cannot be read: %v", d.environment, err)
	}
	return document
}

// end removes what was added.
func (d *damage) end() {
	for _, input := range d.added {
		_, err := d.client.DeleteItem(context.Background(), input)
		d.must(err)
	}
	for _, environment := range d.existingEnvironments() {
		d.environment = environment
		d.compile()
	}
	d.restores.copying = false
}

// checkToggle checks that a toggle that cannot be compiled keeps its part, and that others do not.
func (d *damage) checkToggle() {
	var items []dynamo.Item
	for _, item := range d.db.Items(featuretable.Table) {
		if !item.Bool(featuretable.AttributeArchived) && len(items) < 2 {
			items = append(items, item)
		}
	}
	if len(items) < 2 {
		return
	}
	before := partsOf(d.compile())
	broken, changed := maps.Clone(items[0]), maps.Clone(items[1])
	for _, item := range []dynamo.Item{broken, changed} {
		item[featuretable.AttributeDescription] = dynamo.S("changed")
	}
	broken[featuretable.AttributeEnvironments] = dynamo.B([]byte("broken"))
	table := d.tables[featuretable.Table]
	d.store(table, broken)
	d.store(table, changed)
	after := partsOf(d.compile())
	first, second := toggleKey(broken.String("name")), toggleKey(changed.String("name"))
	if after[first] != before[first] || after[second] == before[second] {
		d.fail("the %s cannot be compiled, and has %s after %s; the %s has changed, and has %s after %s", first,
			after[first], before[first], second, after[second], before[second])
	}
	d.store(table, items[0])
	d.store(table, items[1])
}

// checkSweep checks that a change which no event announces is in the snapshot of an environment after the next hourly
// comparison, although the sweep cannot read all that it needs for other snapshots.
func (d *damage) checkSweep(environment, when string) {
	i := slices.IndexFunc(d.db.Items(featuretable.Table), func(item dynamo.Item) bool {
		return !item.Bool(featuretable.AttributeArchived)
	})
	if i < 0 {
		return
	}
	whole := d.db.Items(featuretable.Table)[i]
	changed := maps.Clone(whole)
	changed[featuretable.AttributeDescription] = dynamo.S(when)
	d.store(d.tables[featuretable.Table], changed)
	d.sleep("the hourly comparison", time.Hour+time.Minute)
	_, _ = d.invoke(context.Background(), "sweep-snapshots", []byte("{}"))
	document, err := d.document(d.pointer(environment))
	d.must(err)
	for _, f := range document.Features {
		if f.Name == changed.String("name") && (f.Description == nil || *f.Description != when) {
			d.fail("when %s, %s lacks a change of the toggle %s after an hour", when, environment, f.Name)
		}
	}
	d.store(d.tables[featuretable.Table], whole)
}

// checkPointer checks that an environment whose pointer cannot be read does not hold up the others.
func (d *damage) checkPointer(broken, whole string) {
	for _, item := range d.db.Items(snapshottable.Table) {
		if snapshottable.IsPointer(item) && item.String(snapshottable.AttributeEnvironment) == broken {
			damaged := maps.Clone(item)
			damaged[snapshottable.AttributeCovers] = dynamo.S("broken")
			d.store(d.tables[snapshottable.Table], damaged)
			d.checkSweep(whole, fmt.Sprintf("the pointer of %s cannot be read", broken))
			d.store(d.tables[snapshottable.Table], item)
		}
	}
}

// checkEvents checks that snapshots are compiled although the event log cannot be read.
func (d *damage) checkEvents() {
	d.engine.unreadable = d.tables["Events"]
	d.checkSweep(d.environment, "the event log cannot be read")
	d.engine.unreadable = ""
}

// manyToggles is more than one request of DynamoDB can read.
const manyToggles = 110

// checkSize checks that applications get a snapshot of several parts, also after one of them was lost.
func (d *damage) checkSize() {
	random := d.random(23)
	for i := range manyToggles {
		f := d.toggle(fmt.Sprint("many-", i), toggle.Strategy{ID: fmt.Sprint("m", i), Name: "default"})
		text := make([]byte, 5000)
		for j := range text {
			text[j] = byte('0' + random.IntN(75)) // it cannot be compressed much
		}
		f.Description = new(string(text))
		d.add(d.tables[featuretable.Table], featuretable.Marshal(f.Normalized()), featuretable.Key(f.Name))
	}
	d.compile()
	d.add(d.tables[featuretable.Table], featuretable.Marshal(d.toggle("last").Normalized()), featuretable.Key("last"))
	p := d.pointer(d.environment)
	if p.Parts < 3 {
		d.fail("a snapshot of %d bytes has only %d parts", p.Size, p.Parts)
	}
	for _, item := range d.db.Items(snapshottable.Table) {
		if !snapshottable.IsPointer(item) && snapshottable.BelongsTo(item, p) &&
			strings.HasSuffix(item.String(snapshottable.AttributeItem), fmt.Sprint("#", p.Parts-1)) {
			_, err := d.client.DeleteItem(context.Background(), &sdk.DeleteItemInput{
				TableName: new(d.tables[snapshottable.Table]), Key: dynamo.Item{
					snapshottable.AttributeEnvironment: item[snapshottable.AttributeEnvironment],
					snapshottable.AttributeItem:        item[snapshottable.AttributeItem],
				},
			})
			d.must(err)
		}
	}
	document := d.compile()
	got := map[string]bool{}
	for _, f := range document.Features {
		got[f.Name] = f.Enabled
	}
	for i := range manyToggles {
		if name := fmt.Sprint("many-", i); !got[name] {
			d.fail("a snapshot of %d parts lacks the toggle %s, or it is off", p.Parts, name)
		}
	}
}

// planned is the constraint of the strategies that checkParent and checkSegment add.
var planned = []toggle.Constraint{{ContextName: "plan", Operator: toggle.OperatorIn, Values: []string{"1"}}}

// checkParent checks that a toggle is on for those who have a variant of its parent, also when the parent cannot be
// read.
func (d *damage) checkParent() {
	strategy := func(id, variant string, constraints []toggle.Constraint) toggle.Strategy {
		return toggle.Strategy{
			ID: id, Name: toggle.StrategyFlexibleRollout, Constraints: constraints,
			Variants: []toggle.Variant{{Name: variant, Weight: toggle.TotalWeight, Stickiness: "default"}},
		}
	}
	parent := d.toggle("parent", strategy("p1", "blue", planned), strategy("p2", "green", nil))
	parent.Children = []string{"child"}
	child := d.toggle("child", toggle.Strategy{ID: "c1", Name: "default"})
	child.Dependency = &toggle.Dependency{Feature: "parent", Enabled: true, Variants: []string{"blue"}}
	table := d.tables[featuretable.Table]
	whole := featuretable.Marshal(parent.Normalized())
	d.add(table, whole, featuretable.Key("parent"))
	d.add(table, featuretable.Marshal(child.Normalized()), featuretable.Key("child"))
	d.checkPlanned("child", "its parent has the variant")
	broken := maps.Clone(whole)
	broken[featuretable.AttributeEnvironments] = dynamo.B([]byte("broken"))
	d.store(table, broken)
	d.checkPlanned("child", "its parent cannot be read")
	d.store(table, whole)
}

// checkSegment checks that toggles are on for those who are in their segment, also when the segment cannot be read, and
// also a toggle that uses it then.
func (d *damage) checkSegment() {
	const id = 1_000_000_000
	table := d.tables[segmenttable.Table]
	whole := segmenttable.Marshal(segmenttable.Segment{
		Segment: toggle.Segment{ID: id, Name: "planned", Constraints: planned},
	})
	d.add(table, whole, segmenttable.Key(id))
	use := func(name string) {
		f := d.toggle(name, toggle.Strategy{ID: name, Name: "default", Segments: []int64{id}})
		d.add(d.tables[featuretable.Table], featuretable.Marshal(f.Normalized()), featuretable.Key(name))
	}
	use("first")
	d.checkPlanned("first", "its segment exists")
	broken := maps.Clone(whole)
	broken["constraints"] = dynamo.S("broken")
	d.store(table, broken)
	use("another")
	d.checkPlanned("first", "its segment cannot be read")
	d.checkPlanned("another", "its segment cannot be read")
	d.store(table, whole)
}

func (d *damage) toggle(name string, strategies ...toggle.Strategy) toggle.Feature {
	f := toggle.Feature{Name: name, Project: "default", Type: d.types.names[0]}
	f.SetEnvironment(d.environment, toggle.Environment{Enabled: true, Strategies: strategies})
	return f
}

// checkPlanned compiles, and checks that a toggle is on for those with the plan 1.
func (d *damage) checkPlanned(name, when string) {
	document := d.compile()
	for _, lenient := range []bool{false, true} {
		for _, v := range d.visitors() {
			if got, want := newDelivered(document, lenient).decide(name, v).on, v["plan"] == "1"; got != want {
				d.fail("when %s, the toggle %s is on for the visitor %v: %t", when, name, v, got)
			}
		}
	}
}
