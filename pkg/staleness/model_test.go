package staleness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"pgregory.net/rapid"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
	"toggleadmin/test/database"
)

// model is the expected state of types and toggles, beside the stored one.
type model struct {
	tables
	prefix  string // of the names of this check: all checks share the tables
	now     time.Time
	types   map[string]*int64 // lifetimes of the types that exist
	toggles map[string]feature.Feature
	stream  []events.DynamoDBEventRecord // records that are to be delivered, or delivered again
	last    int                          // sequence number
	created int                          // number of toggles so far
	index   *lateIndex
}

type tables struct {
	features *feature.Store
	flags    *feature.FlagStore
	stored   *featuretype.Store
	remove   func(id string) // deletes a type
}

func must(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (m *model) typeIDs() []string {
	return []string{m.prefix + "a", m.prefix + "b", m.prefix + "c", m.prefix + "unknown"}
}

func rarely(t *rapid.T, label string) bool {
	return rapid.SampledFrom([]bool{false, false, false, false, true}).Draw(t, label)
}

// isDue is the rule of contract section 5.
func (m *model) isDue(f feature.Feature) bool {
	days := m.types[f.Type]
	return days != nil && *days < 100_000 && !f.Archived && !f.Stale && m.now.Sub(f.CreatedAt) >= time.Duration(*days)*24*time.Hour
}

// populate creates three types, each with toggles that are one to four days old.
func (m *model) populate(t *rapid.T) {
	for i, id := range m.typeIDs()[:3] {
		m.types[id] = new(int64(i + 1))
		must(t, m.stored.Create(t.Context(), featuretype.FeatureType{ID: id, LifetimeDays: m.types[id]}))
		for age := range 4 {
			m.create(t, feature.Feature{Type: id, CreatedAt: m.now.AddDate(0, 0, -age-1)})
		}
	}
}

func (m *model) create(t *rapid.T, f feature.Feature) {
	m.created++
	f.Name = fmt.Sprint(m.prefix, "toggle", m.created)
	must(t, m.features.Create(t.Context(), f))
	m.toggles[f.Name] = f
}

func (m *model) createToggle(t *rapid.T) {
	m.create(t, feature.Feature{
		Type: rapid.SampledFrom(m.typeIDs()).Draw(t, "type"),
		CreatedAt: m.now.AddDate(0, 0, -rapid.IntRange(-2, 8).Draw(t, "days")).
			Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "milliseconds")) * time.Millisecond),
		Archived: rarely(t, "archived"), Stale: rarely(t, "stale"),
	})
}

func (m *model) drawToggle(t *rapid.T) feature.Feature {
	if len(m.toggles) == 0 {
		t.Skip("there are no toggles")
	}
	return m.toggles[rapid.SampledFrom(slices.Sorted(maps.Keys(m.toggles))).Draw(t, "toggle")]
}

func (m *model) changeToggle(t *rapid.T) {
	must(t, m.change(t.Context(), m.drawToggle(t), m.drawChange(t)))
}

// drawChange draws a change of a toggle. nil deletes it.
func (m *model) drawChange(t *rapid.T) func(*feature.Feature) {
	id := rapid.SampledFrom(m.typeIDs()).Draw(t, "type")
	return rapid.SampledFrom([]func(*feature.Feature){
		func(f *feature.Feature) { f.Archived = !f.Archived },
		func(f *feature.Feature) { f.Stale = !f.Stale },
		func(f *feature.Feature) { f.Type = id },
		nil,
	}).Draw(t, "change")
}

func (m *model) change(ctx context.Context, f feature.Feature, change func(*feature.Feature)) error {
	if change == nil {
		delete(m.toggles, f.Name)
		return m.features.Delete(ctx, f.Name)
	}
	change(&f)
	_, err := m.features.Update(ctx, f.Name, func(feature.Feature) feature.Feature { return f })
	m.toggles[f.Name] = f
	return err
}

// wait moves the clock by a little, by a day, or to the end of a toggle's lifetime.
func (m *model) wait(t *rapid.T) {
	steps := []time.Duration{time.Millisecond, time.Hour, 24 * time.Hour}
	if len(m.toggles) > 0 {
		f := m.drawToggle(t)
		if days := m.types[f.Type]; days != nil && *days < 100_000 {
			if end := f.CreatedAt.AddDate(0, 0, int(*days)).Sub(m.now); end > time.Millisecond {
				steps = append(steps, end-time.Millisecond, end)
			}
		}
	}
	m.now = m.now.Add(rapid.SampledFrom(steps).Draw(t, "step"))
	if rapid.Bool().Draw(t, "settle") {
		m.settle(t)
	}
}

// record adds the record of a type's change to the stream.
func (m *model) record(id, event string, before, after *int64) {
	image := func(days *int64) map[string]events.DynamoDBAttributeValue {
		item := map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute(id)}
		if days != nil {
			item["lifetimeDays"] = events.NewNumberAttribute(fmt.Sprint(*days))
		}
		return item
	}
	m.last++
	r := events.DynamoDBEventRecord{EventName: event, Change: events.DynamoDBStreamRecord{
		Keys:           map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute(id)},
		SequenceNumber: fmt.Sprint(m.last), ApproximateCreationDateTime: events.SecondsEpochTime{Time: m.now},
	}}
	if event != "INSERT" {
		r.Change.OldImage = image(before)
	}
	if event != "REMOVE" {
		r.Change.NewImage = image(after)
	}
	m.stream = append(m.stream, r)
}

// changeLifetime changes the lifetime of a type, or creates the type.
func (m *model) changeLifetime(t *rapid.T) {
	id := rapid.SampledFrom(m.typeIDs()[:3]).Draw(t, "type")
	days := rapid.SampledFrom([]*int64{new(int64(2)), new(int64(1)), new(int64(4)), new(int64(7)), nil, new(int64(2147483647))}).Draw(t, "days")
	before, exists := m.types[id]
	if !exists {
		must(t, m.stored.Create(t.Context(), featuretype.FeatureType{ID: id, LifetimeDays: days}))
		m.record(id, "INSERT", nil, days)
	} else {
		_, err := m.stored.SetLifetime(t.Context(), id, days)
		must(t, err)
		m.record(id, "MODIFY", before, days)
	}
	m.types[id] = days
}

func (m *model) deleteType(t *rapid.T) {
	id := rapid.SampledFrom(m.typeIDs()[:3]).Draw(t, "type")
	before, exists := m.types[id]
	if !exists || !rarely(t, "delete") {
		t.Skip("the type does not exist or is not deleted")
	}
	m.remove(id)
	m.record(id, "REMOVE", before, nil)
	delete(m.types, id)
}

// lose drops a record, unless it is of a deletion: no sweep would find the toggles of a deleted type.
func (m *model) lose(t *rapid.T) {
	if len(m.stream) == 0 {
		t.Skip("there are no records")
	}
	i := rapid.IntRange(0, len(m.stream)-1).Draw(t, "record")
	if m.stream[i].EventName == "REMOVE" {
		t.Skip("the record is of a deletion")
	}
	m.stream = slices.Delete(m.stream, i, i+1)
}

// handler returns a handler whose calls fail with f.
func (m *model) handler(f *faults) *staleness.Handler {
	now := m.now
	return &staleness.Handler{
		Types: &faultyTypes{model: m, faults: f}, Logger: slog.New(slog.DiscardHandler),
		Evaluator: &staleness.Evaluator{
			Toggles: &faultyToggles{Toggles: m.flags, faults: f, index: m.index}, Now: func() time.Time { return now },
			Pause: func(ctx context.Context, _ int) error { return ctx.Err() },
		},
	}
}

// deliver delivers some records in any order. Records that failed are delivered again, and so may be any others.
func (m *model) deliver(t *rapid.T) {
	if len(m.stream) == 0 {
		t.Skip("there are no records")
	}
	f, ctx := drawFaults(t)
	m.deliverTo(ctx, t, m.handler(f), rapid.IntRange(1, 3).Draw(t, "records"), f.mayBeLate())
}

func (m *model) deliverTo(ctx context.Context, t *rapid.T, h *staleness.Handler, n int, late bool) {
	m.stream = rapid.Permutation(m.stream).Draw(t, "order")
	batch := slices.Clone(m.stream[:min(n, len(m.stream))])
	response, err := h.Stream(ctx, events.DynamoDBEvent{Records: batch})
	must(t, err)
	if len(response.BatchItemFailures) > 0 || rapid.Bool().Draw(t, "again") {
		return
	}
	m.stream = m.stream[len(batch):]
	for _, r := range batch {
		if late && r.EventName == "REMOVE" { // see the package comment
			m.stream = append(m.stream, r)
		}
	}
}

func (m *model) sweep(t *rapid.T) {
	f, ctx := drawFaults(t)
	_, _ = m.handler(f).Sweep(ctx, json.RawMessage(`{}`)) // if it fails, the next one continues
}

// overtake changes a toggle between the read and the write of a sweep.
func (m *model) overtake(t *rapid.T) {
	h, change := m.handler(&faults{}), m.drawChange(t)
	toggles := &overtakenToggles{Toggles: m.flags, change: func(ctx context.Context, name string) error {
		return m.change(ctx, m.toggles[name], change)
	}}
	h.Evaluator.Toggles = toggles
	_, err := h.Sweep(t.Context(), nil)
	must(t, errors.Join(err, toggles.err))
}

// race runs a delivery, two sweeps and a change of a lifetime at the same time.
func (m *model) race(t *rapid.T) {
	f, ctx := drawFaults(t)
	h := m.handler(f)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { _, _ = h.Sweep(ctx, nil) })
	}
	batch := slices.Clone(m.stream)
	all.Go(func() { _, _ = h.Stream(ctx, events.DynamoDBEvent{Records: batch}) })
	m.changeLifetime(t)
	all.Wait()
}

// settle lets deliveries and sweeps finish, and compares every flag with the model.
func (m *model) settle(t *rapid.T) {
	f := &faults{}
	h := m.handler(f)
	m.index.catchUp()
	for range 100 {
		if len(m.stream) > 0 {
			m.deliverTo(t.Context(), t, h, len(m.stream), false)
		}
	}
	_, err := h.Sweep(t.Context(), nil)
	must(t, err)
	for name, want := range m.toggles {
		got, err := m.features.Get(t.Context(), name)
		must(t, err)
		if due := m.isDue(want); got.PotentiallyStale != due {
			t.Fatalf("%s, created at %s, is potentially stale: %t, want %t (now %s, lifetimes %v)", name, want.CreatedAt, got.PotentiallyStale, due, m.now, m.types)
		}
	}
	if sum, err := h.Sweep(t.Context(), nil); err != nil || sum != (staleness.Summary{}) {
		t.Fatalf("something was left: %+v, %v", sum, err)
	}
}

// TestModel compares the flags with a model: whatever was lost, repeated, reordered, interrupted or late, once deliveries and sweeps can
// finish, every flag is correct. At no time an archived or stale toggle is flagged.
func TestModel(t *testing.T) {
	t.Parallel()
	db, run := database.New(t), 0
	stores := tables{
		features: feature.NewStore(db.Client, db.Tables), flags: feature.NewFlagStore(db.Client, db.Tables), stored: featuretype.NewStore(db.Client, db.Tables),
		remove: func(id string) { db.Delete(t, db.Tables.FeatureTypes, dynamo.Item{"id": dynamo.S(id)}) },
	}
	rapid.Check(t, func(t *rapid.T) {
		run++
		m := &model{
			tables: stores, prefix: fmt.Sprint(run, "-"), now: noon(), types: map[string]*int64{}, toggles: map[string]feature.Feature{},
			index: &lateIndex{before: map[feature.Range][]feature.Indexed{}},
		}
		m.populate(t)
		t.Repeat(map[string]func(*rapid.T){
			"create": m.createToggle, "change": m.changeToggle, "change again": m.changeToggle, "wait": m.wait,
			"change lifetime": m.changeLifetime, "change lifetime again": m.changeLifetime, "delete type": m.deleteType,
			"deliver": m.deliver, "lose": m.lose, "sweep": m.sweep, "sweep again": m.sweep,
			"overtake": m.overtake, "race": m.race, "settle": m.settle,
			"": func(t *rapid.T) {
				all, err := m.features.List(t.Context())
				must(t, err)
				for _, f := range all {
					if f.PotentiallyStale && (f.Archived || f.Stale) {
						t.Fatalf("flagged: %+v", f)
					}
				}
			},
		})
		m.settle(t)
	})
}

// TestCrashAfterEachWrite ends a run after each of its writes, without a response. The next run does what is left and reads nothing else.
func TestCrashAfterEachWrite(t *testing.T) {
	t.Parallel()
	const n = 12
	db := database.New(t)
	features, flags := feature.NewStore(db.Client, db.Tables), feature.NewFlagStore(db.Client, db.Tables)
	for k := range n {
		kind := lifetime(fmt.Sprint("release", k))
		for i := range n {
			f := feature.Feature{Name: fmt.Sprint(kind.ID, "-", i), Type: kind.ID, CreatedAt: noon().AddDate(0, 0, -8)}
			check(t, features.Create(t.Context(), f))
		}
		ctx, crash := context.WithCancel(t.Context())
		e := &staleness.Evaluator{
			Toggles: &faultyToggles{Toggles: flags, faults: &faults{writes: k, crash: crash}, index: &lateIndex{before: map[feature.Range][]feature.Indexed{}}},
			Now:     noon, Pause: func(ctx context.Context, _ int) error { return ctx.Err() },
		}
		first := e.Evaluate(ctx, []featuretype.FeatureType{kind})[0]
		if crash(); first.Flagged > k || first.Left == 0 {
			t.Errorf("crashed after %d: %+v", k, first)
		}
		written := 0
		all, err := features.List(t.Context())
		check(t, err)
		for _, f := range all {
			if f.Type == kind.ID && f.PotentiallyStale {
				written++
			}
		}
		e.Toggles = flags
		second := e.Evaluate(t.Context(), []featuretype.FeatureType{kind})[0]
		if written <= k || second.Flagged != n-written || second.Read != second.Flagged || second.Left != 0 || second.Err != nil {
			t.Errorf("crashed after %d, %d were written: %+v", k, written, second)
		}
	}
}

// mine returns the types of this check.
func (m *model) mine(all []featuretype.FeatureType) []featuretype.FeatureType {
	return slices.DeleteFunc(all, func(t featuretype.FeatureType) bool { return !strings.HasPrefix(t.ID, m.prefix) })
}
