package compiler_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// fixture is an installation with the environments development and production, and a compiler.
type fixture struct {
	*testing.T
	db      *database.Database
	handler *compiler.Handler
	log     bytes.Buffer
	now     time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, db: database.New(t), now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
	environments := environment.NewStore(f.db.Client, f.db.Tables, eventlog.Discard(f.db.Client, time.Now))
	for _, e := range environment.Defaults() {
		_, err := environments.Create(t.Context(), e)
		assert.OK(t, err)
	}
	f.handler = &compiler.Handler{Compiler: f.compiler(f.db.Client), Events: eventlog.NewReader(f.eventLog())}
	return f
}

func (f *fixture) compiler(client *dynamodb.Client) *compiler.Compiler {
	now := func() time.Time { return f.now }
	return compiler.New(client, f.db.Tables, now, rand.Reader, slog.New(slog.NewTextHandler(&f.log, nil)))
}

func (f *fixture) eventLog() *eventlog.Log {
	return eventlog.New(f.db.Client, f.db.Tables, func() time.Time { return f.now }, 0)
}

// put stores a toggle that is on in production for a percentage of the users.
func (f *fixture) put(name, percentage string, segments ...int64) {
	f.Helper()
	t := toggle.Feature{Name: name, Project: "shop", Type: "release"}
	t.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{
		ID:         "1",
		Name:       toggle.StrategyFlexibleRollout,
		Parameters: map[string]string{"rollout": percentage, "stickiness": "default", "groupId": name},
		Segments:   segments,
	}}})
	f.store(t)
}

func (f *fixture) store(t toggle.Feature) {
	f.Helper()
	f.db.Put(f.T, f.db.Tables[featuretable.Table], featuretable.Marshal(t.Normalized()))
}

func (f *fixture) putSegment(id int64, name string) {
	f.Helper()
	f.db.Put(f.T, f.db.Tables[segmenttable.Table], segmenttable.Marshal(segmenttable.Segment{
		Segment: toggle.Segment{ID: id, Name: name},
	}))
}

// sees returns what applications in an environment download: the version of the snapshot, and for each toggle its name
// and the percentage and segments of its strategies.
func (f *fixture) sees(in string) string {
	f.Helper()
	pointer, s := f.current(in)
	if s == nil {
		return "nothing"
	}
	d, err := s.Document()
	assert.OK(f, err)
	words := []string{fmt.Sprint(pointer.Version, ":")}
	for _, t := range d.Features {
		words = append(words, t.Name)
		for _, strategy := range t.Strategies {
			words = append(words, strategy.Parameters["rollout"])
			for _, id := range strategy.Segments {
				words = append(words, "in "+d.SegmentsByID()[id].Name)
			}
		}
	}
	return strings.Join(words, " ")
}

func (f *fixture) current(in string) (snapshottable.Pointer, *snapshot.Snapshot) {
	f.Helper()
	table := f.db.Tables[snapshottable.Table]
	pointer, exists, err := snapshottable.ReadPointer(f.Context(), f.db.Client, table, in)
	assert.OK(f, err)
	if !exists {
		return pointer, nil
	}
	s, err := snapshottable.Load(f.Context(), f.db.Client, table, pointer)
	assert.OK(f, err)
	return pointer, &s
}

// changed delivers the events of a batch.
func (f *fixture) changed(batch ...eventlog.Event) (failed string) {
	f.Helper()
	response, err := f.handler.Stream(f.Context(), records(batch...))
	assert.OK(f, err)
	if len(response.BatchItemFailures) == 0 {
		return ""
	}
	return response.BatchItemFailures[0].ItemIdentifier
}

func records(batch ...eventlog.Event) events.DynamoDBEvent {
	var all events.DynamoDBEvent
	for i, e := range batch {
		image := map[string]events.DynamoDBAttributeValue{
			"id":   events.NewNumberAttribute(fmt.Sprint(i + 1)),
			"type": events.NewStringAttribute(string(e.Type)),
		}
		for name, value := range map[string]string{
			"subject": string(e.Subject), "featureName": e.FeatureName, "environment": e.Environment,
		} {
			if value != "" {
				image[name] = events.NewStringAttribute(value)
			}
		}
		all.Records = append(all.Records, events.DynamoDBEventRecord{
			EventName: "INSERT",
			Change:    events.DynamoDBStreamRecord{SequenceNumber: fmt.Sprint("record ", i+1), NewImage: image},
		})
	}
	return all
}

func toggleEvent(t eventlog.Type, name, in string) eventlog.Event {
	return eventlog.Event{Type: t, Subject: eventlog.Subject("toggle:" + name), FeatureName: name, Environment: in}
}

func (f *fixture) sweep() {
	f.Helper()
	_, err := f.handler.Sweep(f.Context(), nil)
	assert.OK(f, err)
}

func (f *fixture) compile() {
	f.Helper()
	assert.OK(f, f.handler.Compiler.Compile(f.Context(), "production"))
}

// An event without an environment concerns all environments, and another one only its own.
func TestStream(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "50")
	assert.Equal(t, "", f.changed(toggleEvent(eventlog.FeatureCreated, "a", "")))
	assert.Equal(t, "1: a", f.sees("development"))
	assert.Equal(t, "1: a 50", f.sees("production"))
	f.put("a", "60")
	f.put("b", "10")
	f.changed(
		toggleEvent(eventlog.FeatureStrategyUpdate, "a", "production"),
		toggleEvent(eventlog.FeatureStrategyAdd, "b", "production"),
	)
	assert.Equal(t, "1: a", f.sees("development"))
	assert.Equal(t, "2: a 60 b 10", f.sees("production"))
}

// Only what events concern is read again. A repeated delivery, and an event that changes nothing that is delivered,
// keep the version.
func TestIncrementalCompilation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putSegment(7, "Norway")
	f.put("a", "50", 7)
	f.put("b", "10")
	f.compile()
	assert.Equal(t, "1: a 50 in Norway b 10", f.sees("production"))
	ofA, ofB := toggleEvent(eventlog.FeatureUpdated, "a", ""), toggleEvent(eventlog.FeatureUpdated, "b", "")
	ofSegment := func(id string) eventlog.Event {
		return eventlog.Event{Type: eventlog.SegmentUpdated, Subject: eventlog.Subject("segment:" + id)}
	}
	for _, step := range []struct {
		change func()
		event  eventlog.Event
		want   string
	}{
		{func() {}, ofA, "1: a 50 in Norway b 10"},
		{func() { f.put("a", "60", 7); f.put("b", "99") }, ofA, "2: a 60 in Norway b 10"},
		{func() { f.putSegment(7, "NO") }, ofSegment("7"), "3: a 60 in NO b 10"},
		{func() { f.putSegment(8, "SE"); f.put("b", "10", 8) }, ofB, "4: a 60 in NO b 10 in SE"},
		{func() { f.put("b", "10") }, ofB, "5: a 60 in NO b 10"},
		{func() { f.putSegment(8, "unused") }, ofSegment("8"), "5: a 60 in NO b 10"},
		{func() { f.store(toggle.Feature{Name: "a", Archived: true}) }, ofA, "6: b 10"},
		{func() { f.delete("b") }, ofB, "7:"},
	} {
		step.change()
		for range 2 {
			assert.Equal(t, "", f.changed(step.event))
			assert.Equal(t, step.want, f.sees("production"))
		}
	}
}

func (f *fixture) delete(name string) {
	f.Helper()
	f.db.Delete(f.T, f.db.Tables[featuretable.Table], featuretable.Key(name))
}

// A change of a parent's variants changes its children. A child is off while the parent does not have the variant.
func TestChildren(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store(parent("blue"))
	f.store(childOfBlue())
	f.compile()
	assert.Equal(t, true, f.feature("child").Enabled)
	change := toggleEvent(eventlog.FeatureStrategyUpdate, "parent", "production")
	f.store(parent("red"))
	f.changed(change)
	assert.Equal(t, false, f.feature("child").Enabled)
	f.store(parent("blue"))
	f.changed(change)
	assert.Equal(t, true, f.feature("child").Enabled)
}

// A parent that cannot be compiled keeps its part, and the dependency of its child the variants in that part.
func TestChildOfADamagedParent(t *testing.T) {
	t.Parallel()
	for _, changed := range []string{"parent", "child", ""} {
		f := newFixture(t)
		f.store(parent("blue"))
		f.store(childOfBlue())
		f.compile()
		f.damage(parent("blue"))
		if changed == "" {
			f.compile()
		} else {
			f.changed(toggleEvent(eventlog.FeatureUpdated, changed, ""))
		}
		assert.Equal(t, 1, len(f.feature("parent").Strategies))
		child := f.feature("child")
		assert.Equal(t, true, child.Enabled)
		assert.Equal(t, []string{"blue"}, child.Dependencies[0].Variants)
	}
}

// parent returns a toggle that is on in production, with one variant.
func parent(variant string) toggle.Feature {
	f := toggle.Feature{Name: "parent", Project: "shop", Children: []string{"child"}}
	f.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{
		ID: "1", Name: "flexibleRollout", Variants: []toggle.Variant{{Name: variant, Weight: 1000}},
	}}})
	return f
}

// childOfBlue returns a toggle that is on in production, and depends on a variant of its parent.
func childOfBlue() toggle.Feature {
	f := toggle.Feature{Name: "child", Project: "shop",
		Dependency: &toggle.Dependency{Feature: "parent", Enabled: true, Variants: []string{"blue"}}}
	f.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{
		ID: "1", Name: "default",
	}}})
	return f
}

// feature returns the part of a toggle in the snapshot of production.
func (f *fixture) feature(name string) evaluation.Feature {
	f.Helper()
	_, s := f.current("production")
	d, err := s.Document()
	assert.OK(f, err)
	for _, part := range d.Features {
		if part.Name == name {
			return part
		}
	}
	f.Fatalf("the snapshot has no toggle %s", name)
	return evaluation.Feature{}
}

// damage stores a toggle whose item cannot be read.
func (f *fixture) damage(t toggle.Feature) {
	f.Helper()
	item := featuretable.Marshal(t.Normalized())
	item[featuretable.AttributeEnvironments] = dynamo.B([]byte("damaged"))
	f.db.Put(f.T, f.db.Tables[featuretable.Table], item)
}

// A compilation begins again if another one has published a snapshot meanwhile. Otherwise it would publish an older
// state after a newer one.
func TestRace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "10")
	f.compile()
	slow := f.compiler(f.db.Before(t, "PutItem", 1, func() {
		f.put("a", "30")
		f.compile()
	}))
	f.put("a", "20")
	assert.OK(t, slow.Compile(t.Context(), "production"))
	assert.Equal(t, "2: a 30", f.sees("production"))
}

// Nor does it publish a state that was replaced meanwhile by the one of the current snapshot.
func TestRaceWithoutChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "10")
	f.compile()
	slow := f.compiler(f.db.Before(t, "PutItem", 1, func() {
		f.put("a", "10")
		f.changed(toggleEvent(eventlog.FeatureUpdated, "a", "production"))
	}))
	f.put("a", "20")
	assert.OK(t, slow.Compile(t.Context(), "production"))
	assert.Equal(t, "1: a 10", f.sees("production"))
}

// A toggle that cannot be compiled keeps its part, is logged, and does not hold up the others.
func TestOneBadToggle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "50")
	f.put("b", "10")
	f.compile()
	f.damage(toggle.Feature{Name: "a", Project: "shop"})
	f.put("b", "20")
	f.put("c", "30", 99) // a segment that does not exist
	f.changed(toggleEvent(eventlog.FeatureUpdated, "a", ""), toggleEvent(eventlog.FeatureUpdated, "b", ""),
		toggleEvent(eventlog.FeatureCreated, "c", ""))
	assert.Equal(t, "2: a 50 b 20", f.sees("production"))
	for _, text := range []string{`the toggle \"a\": decode`, `the toggle \"c\": a strategy uses the segment 99`} {
		if !strings.Contains(f.log.String(), text) {
			t.Errorf("the log does not contain %s:\n%s", text, &f.log)
		}
	}
	f.compile()
	assert.Equal(t, "2: a 50 b 20", f.sees("production"))
}

// A segment that cannot be read keeps its state. The toggles that use it, and other segments, change.
func TestOneBadSegment(t *testing.T) {
	t.Parallel()
	segmentEvent := func(subject eventlog.Subject) eventlog.Event {
		return eventlog.Event{Type: eventlog.SegmentUpdated, Subject: subject}
	}
	for _, incremental := range []bool{false, true} {
		f := newFixture(t)
		f.putSegment(7, "Norway")
		f.putSegment(8, "Sweden")
		f.put("a", "50", 7)
		f.put("b", "50", 8)
		f.compile()
		damaged := segmenttable.Marshal(segmenttable.Segment{Segment: toggle.Segment{ID: 7, Name: "NO"}})
		damaged["constraints"] = dynamo.S("damaged")
		f.db.Put(t, f.db.Tables[segmenttable.Table], damaged)
		f.putSegment(8, "SE")
		f.put("a", "60", 7)
		if incremental {
			f.changed(toggleEvent(eventlog.FeatureUpdated, "a", ""), segmentEvent("segment:7"), segmentEvent("segment:8"))
		} else {
			f.compile()
		}
		assert.Equal(t, "2: a 60 in Norway b 50 in SE", f.sees("production"))
		if text := "the segment 7: read the constraints"; !strings.Contains(f.log.String(), text) {
			t.Errorf("the log does not contain %s:\n%s", text, &f.log)
		}
	}
}

// A pointer that cannot be read does not hold up other environments.
func TestOneBadPointer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "50")
	f.sweep()
	pointer, _ := f.current("development")
	damaged := snapshottable.MarshalPointer(pointer)
	damaged["version"] = dynamo.S("damaged")
	f.db.Put(t, f.db.Tables[snapshottable.Table], damaged)
	f.put("a", "60")
	f.now = f.now.Add(time.Hour)
	if _, err := f.handler.Sweep(t.Context(), nil); err == nil {
		t.Error("the sweep succeeds")
	}
	assert.Equal(t, "2: a 60", f.sees("production"))
}

// The sweep compiles what the stream gave up, and reads nothing but the log and the pointers if there are no events.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "50")
	f.sweep()
	assert.Equal(t, "1: a 50", f.sees("production"))
	f.now = f.now.Add(10 * time.Minute)
	f.put("a", "60")
	f.sweep() // there is no event
	assert.Equal(t, "1: a 50", f.sees("production"))
	f.record(eventlog.FeaturePotentiallyStaleOn, "a", "")
	f.sweep()
	assert.Equal(t, "1: a 50", f.sees("production"))
	pointer, _ := f.current("production")
	assert.Equal(t, f.now, pointer.Covers)
	f.record(eventlog.FeatureStrategyUpdate, "a", "production")
	f.now = f.now.Add(30 * time.Second)
	f.sweep()
	assert.Equal(t, "2: a 60", f.sees("production"))
	f.put("a", "70")
	f.now = f.now.Add(time.Hour)
	f.handler.Events = eventlog.NewReader(eventlog.New(f.db.Refusing(t, "Query"), f.db.Tables, time.Now, 0))
	f.sweep() // reads everything, although there is no event, and the log cannot be read
	assert.Equal(t, "3: a 70", f.sees("production"))
}

// The sweep counts the events of two minutes, so that an alarm sees that a stream is not read.
func TestRecentEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.handler.Compiler.Function = "sweep-snapshots"
	f.sweep()
	f.record(eventlog.FeatureStrategyUpdate, "a", "production")
	f.record(eventlog.FeatureTypeUpdated, "", "")
	for _, row := range []struct {
		after time.Duration
		want  string
	}{
		{time.Minute, "recentEvents=2 recentTypeEvents=1"},
		{time.Minute, "recentEvents=2 recentTypeEvents=1"},
		{time.Second, ""},
	} {
		f.log.Reset()
		f.now = f.now.Add(row.after)
		f.sweep()
		_, line, _ := strings.Cut(f.log.String(), `msg="recent events counted" `)
		line, _, _ = strings.Cut(line, " functionName")
		assert.Equal(t, row.want, line)
	}
}

// A process with a fast clock, such as an operator's, does not stop the sweeps until that time. doctor reports it.
func TestFastClock(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "10")
	f.sweep()
	f.now = f.now.Add(24 * time.Hour)
	f.compile()
	f.now = f.now.Add(-24 * time.Hour)
	_, found, err := f.handler.Compiler.Check(t.Context())
	assert.OK(t, err)
	const want = `the snapshot of the environment "production" was last compared with the tables at ` +
		"2026-11-23T10:00:00.000Z, which is in the future: the clock of the process that compiled it, or of this computer, " +
		"is wrong"
	assert.Equal(t, want, found[0].Text)
	f.put("a", "20")
	f.sweep()
	assert.Equal(t, "2: a 20", f.sees("production"))
	f.put("a", "30")
	f.record(eventlog.FeatureStrategyUpdate, "a", "production")
	f.sweep()
	assert.Equal(t, "3: a 30", f.sees("production"))
}

// A snapshot of another format is replaced by the next compilation or sweep, and is not read meanwhile.
func TestOtherFormat(t *testing.T) {
	t.Parallel()
	for name, repair := range map[string]func(*fixture){
		"stream": func(f *fixture) { f.changed(toggleEvent(eventlog.FeatureUpdated, "a", "production")) },
		"sweep":  (*fixture).sweep,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.put("a", "10")
			f.sweep()
			before, _ := f.current("production")
			item := snapshottable.MarshalPointer(before)
			item["format"] = dynamo.N(snapshottable.Format + 1)
			f.db.Put(t, f.db.Tables[snapshottable.Table], item)
			other, err := snapshottable.UnmarshalPointer(item)
			assert.OK(t, err)
			_, err = snapshottable.Load(t.Context(), f.db.Client, f.db.Tables[snapshottable.Table], other)
			assert.Equal(t, `the snapshot 1 of the environment "production" cannot be read: it has the format 2, and this `+
				"version of the service reads 1", err.Error())
			repair(f)
			assert.Equal(t, "1: a 10", f.sees("production"))
			if after, _ := f.current("production"); after.Epoch == before.Epoch {
				t.Error("the epoch is the same")
			}
		})
	}
}

// A change of tags is published, also if nothing else has changed. The tags of a snapshot that an earlier version of the
// service has published are added by the next compilation of anything, or by a sweep.
func TestTags(t *testing.T) {
	t.Parallel()
	for name, repair := range map[string]func(*fixture){
		"stream": func(f *fixture) { f.changed(toggleEvent(eventlog.FeatureUpdated, "b", "production")) },
		"sweep":  (*fixture).sweep,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.put("b", "10")
			a := toggle.Feature{Name: "a", Project: "shop", Tags: []toggle.Tag{{Type: "simple", Value: "web"}}}
			f.store(a)
			f.compile()
			assert.Equal(t, "simple:web", f.tags())
			a.Tags[0].Value = "app"
			f.store(a)
			if _, found, err := f.handler.Compiler.Check(t.Context()); err != nil || len(found) == 0 {
				t.Errorf("found %v, error %v", found, err)
			}
			f.changed(toggleEvent(eventlog.FeatureTagged, "a", ""))
			assert.Equal(t, "simple:app", f.tags())
			before, _ := f.current("production")
			item := snapshottable.MarshalPointer(before)
			delete(item, "tagParts")
			f.db.Put(t, f.db.Tables[snapshottable.Table], item)
			assert.Equal(t, "", f.tags())
			repair(f)
			assert.Equal(t, "simple:app", f.tags())
		})
	}
}

// tags returns the tags of the toggles in production.
func (f *fixture) tags() string {
	f.Helper()
	_, s := f.current("production")
	d, err := s.Document()
	assert.OK(f, err)
	var all []string
	for _, feature := range d.Features {
		for _, tag := range feature.Tags {
			all = append(all, tag.String())
		}
	}
	return strings.Join(all, " ")
}

func (f *fixture) record(kind eventlog.Type, name, in string) {
	f.Helper()
	log := f.eventLog()
	_, err := log.Transact(f.Context(), func() ([]types.TransactWriteItem, error) {
		_, actions, err := log.RecordActions(f.Context(), eventlog.Change{
			Type: kind, Subject: eventlog.Subject("toggle:" + name), FeatureName: name, Environment: in,
		})
		return actions, err
	})
	assert.OK(f, err)
}

// Parts of replaced snapshots are deleted after an hour, and everything of environments that do not exist.
func TestUnusedParts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, percentage := range []string{"10", "20", "30"} {
		f.put("a", percentage)
		f.compile()
	}
	assert.Equal(t, 9, f.parts("production"))
	assert.OK(t, f.handler.Compiler.Compile(t.Context(), "gone"))
	f.now = f.now.Add(time.Hour + time.Second)
	f.sweep()
	assert.Equal(t, 3, f.parts("production"))
	assert.Equal(t, 0, f.parts("gone"))
	assert.Equal(t, "nothing", f.sees("gone"))
	assert.Equal(t, "3: a 30", f.sees("production"))
}

// Parts are deleted although no environment is ever without a change for an hour.
func TestUnusedPartsOfABusyInstallation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for n := range 15 { // until 12:20
		f.put("a", strconv.Itoa(n))
		for _, e := range environment.Defaults() {
			assert.OK(t, f.handler.Compiler.Compile(t.Context(), e.Name))
		}
		f.sweep()
		f.now = f.now.Add(10 * time.Minute)
	}
	assert.Equal(t, 3*9, f.parts("production")) // of 11:00 and later
	assert.Equal(t, "15: a 14", f.sees("production"))
}

// A compilation that ends before it has moved the pointer leaves parts. They are not those of the snapshot that is
// published while they are deleted, although that has the same version and content.
func TestPartsOfACrashedCompilation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "10")
	f.compile()
	f.put("a", "20")
	crashing, _ := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "PutItem" && c.N == 3 {
			return c.Refuse("ValidationException")
		}
		return c.Pass()
	})
	if err := f.compiler(crashing).Compile(t.Context(), "production"); err == nil {
		t.Error("the compilation does not fail")
	}
	f.put("a", "10")
	f.compile()
	f.now = f.now.Add(2 * time.Hour)
	f.sweepWhile("DeleteItem", func() {
		f.put("a", "20")
		f.compile()
	})
	assert.Equal(t, "2: a 20", f.sees("production"))
}

// A process with a slow clock publishes a snapshot while unused parts are deleted. Its parts do not look old.
func TestSlowClock(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "10")
	f.compile()
	f.now = f.now.Add(2 * time.Hour)
	f.sweepWhile("Scan", func() {
		f.now = f.now.Add(-24 * time.Hour)
		f.put("a", "20")
		f.compile()
		f.now = f.now.Add(24 * time.Hour)
	})
	assert.Equal(t, "2: a 20", f.sees("production"))
}

// The items of an environment that is created again while they are deleted stay.
func TestEnvironmentIsCreatedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("a", "10")
	compile := func() { assert.OK(t, f.handler.Compiler.Compile(t.Context(), "again")) }
	compile()
	f.sweep()
	f.now = f.now.Add(2 * time.Hour)
	f.sweepWhile("DeleteItem", compile)
	assert.Equal(t, "1: a", f.sees("again"))
}

// sweepWhile sweeps, and does something before the first call of an operation on the table of snapshots.
func (f *fixture) sweepWhile(operation string, do func()) {
	f.Helper()
	do = sync.OnceFunc(do)
	client, _ := f.db.Through(f.T, func(c *database.Call) (*http.Response, error) {
		if c.Operation == operation && strings.Contains(c.Body, f.db.Tables[snapshottable.Table]) {
			do()
		}
		return c.Pass()
	})
	sweeper := *f.handler
	sweeper.Compiler = f.compiler(client)
	_, err := sweeper.Sweep(f.Context(), nil)
	assert.OK(f, err)
}

// parts returns the number of parts of snapshots of an environment.
func (f *fixture) parts(in string) (n int) {
	f.Helper()
	for _, item := range f.db.Scan(f.T, f.db.Tables[snapshottable.Table]) {
		if item.String("environment") == in && strings.HasPrefix(item.String("item"), "part#") {
			n++
		}
	}
	return n
}

// A lost or damaged part, of the versions or of the body, ends the epoch: the next compilation reads everything. A
// toggle that cannot be compiled is left out, because its last good part is lost.
func TestLostPart(t *testing.T) {
	t.Parallel()
	for name, repair := range map[string]func(*fixture){
		"stream": func(f *fixture) { f.changed(toggleEvent(eventlog.FeatureUpdated, "b", "production")) },
		"sweep": func(f *fixture) {
			f.now = f.now.Add(time.Hour)
			f.sweep()
		},
		"repair": func(f *fixture) {
			_, found, err := f.handler.Compiler.Check(f.Context())
			assert.OK(f, err)
			assert.OK(f, found[len(found)-1].Repair(f.Context()))
		},
	} {
		for _, part := range []string{"#0", "#1"} {
			for _, isDamaged := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " ", part, " ", isDamaged), func(t *testing.T) {
					t.Parallel()
					f := newFixture(t)
					f.put("a", "50")
					f.put("b", "10")
					f.compile()
					before, _ := f.current("production")
					f.lose(part, isDamaged)
					f.put("a", "60", 99) // a segment that does not exist
					f.put("c", "20")
					repair(f)
					assert.Equal(t, "1: b 10 c 20", f.sees("production"))
					after, _ := f.current("production")
					if after.Epoch == before.Epoch {
						t.Error("the epoch is the same")
					}
					if text := `the toggle \"a\": a strategy uses the segment 99`; !strings.Contains(f.log.String(), text) {
						t.Errorf("the log does not contain %s:\n%s", text, &f.log)
					}
				})
			}
		}
	}
}

// lose deletes the parts of snapshots whose keys have a suffix, or replaces their content.
func (f *fixture) lose(suffix string, isDamaged bool) {
	f.Helper()
	table := f.db.Tables[snapshottable.Table]
	for _, item := range f.db.Scan(f.T, table) {
		switch {
		case !strings.HasSuffix(item.String("item"), suffix):
		case isDamaged:
			item["content"] = dynamo.B([]byte("damaged"))
			f.db.Put(f.T, table, item)
		default:
			f.db.Delete(f.T, table, dynamo.Item{"environment": item["environment"], "item": item["item"]})
		}
	}
}

// Snapshots of several parts are read as they were written. Concurrent compilations publish each state once.
func TestLargeSnapshot(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var names []string
	for i := range 40 {
		random := make([]byte, 12_000)
		_, err := rand.Read(random)
		assert.OK(t, err)
		name := fmt.Sprintf("t%02d", i)
		names = append(names, name)
		f.store(toggle.Feature{Name: name, Project: "shop", Description: new(fmt.Sprintf("%x", random))})
	}
	done := make(chan error)
	for range 3 {
		go func() { done <- f.handler.Compiler.Compile(context.Background(), "production") }()
	}
	for range 3 {
		assert.OK(t, <-done)
	}
	pointer, s := f.current("production")
	assert.Equal(t, int64(1), pointer.Version)
	if pointer.Parts < 3 {
		t.Errorf("%d parts", pointer.Parts)
	}
	d, err := s.Document()
	assert.OK(t, err)
	var got []string
	for _, feature := range d.Features {
		got = append(got, feature.Name)
	}
	assert.Equal(t, names, slices.Sorted(slices.Values(got)))
	assert.Equal(t, 24_000, len(*d.Features[0].Description))
}

// maxBody is the limit of the size in tests of large snapshots.
const maxBody snapshot.Limit = 94_000

// putLarge stores toggles that have about a hundredth of maxBody each in a snapshot, compressed, and are on in production.
func (f *fixture) putLarge(first, count int) {
	f.Helper()
	for i := range count {
		random := make([]byte, 900)
		_, err := rand.Read(random)
		assert.OK(f, err)
		t := toggle.Feature{Name: fmt.Sprintf("t%03d", first+i), Project: "shop"}
		t.Description = new(base64.StdEncoding.EncodeToString(random))
		t.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{
			ID: "1", Name: toggle.StrategyDefault, Parameters: map[string]string{},
		}}})
		f.store(t)
	}
}

// delivered returns the numbers of toggles in production, and of those that are on.
func (f *fixture) delivered() (toggles, on int) {
	f.Helper()
	_, s := f.current("production")
	d, err := s.Document()
	assert.OK(f, err)
	for _, t := range d.Features {
		if t.Enabled {
			on++
		}
	}
	return len(d.Features), on
}

// isFull reports whether writes that enlarge the toggles of an environment are rejected.
func (f *fixture) isFull(in string) bool {
	f.Helper()
	names, err := environment.NewStore(f.db.Client, f.db.Tables, nil).AllFull(f.Context())
	assert.OK(f, err)
	return slices.Contains(names, in)
}

// From 80 % of what can be delivered on there is a warning, from 90 % on the environment is full, and above, what is
// turned off or removed is delivered, and nothing else.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.handler.Compiler.Limit = maxBody
	compile := func(toggles, on int, full bool, says string) {
		t.Helper()
		f.log.Reset()
		assert.OK(t, f.handler.Compiler.Compile(t.Context(), "production"))
		gotToggles, gotOn := f.delivered()
		assert.Equal(t, []any{toggles, on, full}, []any{gotToggles, gotOn, f.isFull("production")})
		if log := f.log.String(); says == "" && log != "" || !strings.Contains(log, says) {
			t.Errorf("the log has %q, want %q", log, says)
		}
	}
	problems := func() (texts []string) {
		_, found, err := f.handler.Compiler.Check(t.Context())
		assert.OK(t, err)
		for _, i := range found {
			if strings.Contains(i.Text, `"production"`) {
				texts = append(texts, i.Text)
			}
		}
		return texts
	}
	const nearly = "the toggles of an environment are nearly too large for applications"
	f.putLarge(0, 75)
	compile(75, 75, false, "")
	f.putLarge(75, 10)
	compile(85, 85, false, nearly)
	if found := problems(); len(found) != 1 || !strings.Contains(found[0], "and at most 94000 are delivered") {
		t.Errorf("found %q", found)
	}
	f.putLarge(85, 10)
	compile(95, 95, true, nearly)

	f.putLarge(95, 15)
	compile(95, 95, true, "applications get what is turned off or removed, and no other change")
	if found := problems(); len(found) != 1 || !strings.Contains(found[0], "and the limit is 94000") {
		t.Errorf("found %q", found)
	}
	before, _ := f.current("production")
	f.store(toggle.Feature{Name: "t001", Project: "shop"})
	f.store(toggle.Feature{Name: "t002", Project: "shop", Archived: true})
	f.put("small", "50")
	assert.Equal(t, "", f.changed(toggleEvent(eventlog.FeatureEnvironmentDisabled, "t001", "production")))
	toggles, on := f.delivered()
	assert.Equal(t, []int{94, 93}, []int{toggles, on})
	after, _ := f.current("production")
	assert.Equal(t, before.Version+1, after.Version)
	assert.Equal(t, before.Epoch, after.Epoch)

	for i := 75; i < 110; i++ {
		f.store(toggle.Feature{Name: fmt.Sprintf("t%03d", i), Project: "shop", Archived: true})
	}
	compile(75, 74, false, "")
	assert.OK(t, environment.NewStore(f.db.Client, f.db.Tables, nil).SetFull(t.Context(), "production", true))
	f.sweep()
	assert.Equal(t, false, f.isFull("production"))
}

// Without an earlier snapshot, nothing is published: applications would turn off what is not in it.
func TestTooLargeFromTheBeginning(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.handler.Compiler.Limit = maxBody
	f.putLarge(0, 105)
	err := f.handler.Compiler.Compile(t.Context(), "production")
	if err == nil || !strings.Contains(err.Error(), "there is no earlier snapshot") {
		t.Errorf("error %v", err)
	}
	assert.Equal(t, "nothing", f.sees("production"))
}
