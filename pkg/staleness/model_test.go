package staleness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/event"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
	"toggleadmin/test/database"
)

// model is the expected state of types and toggles, beside the stored one.
type model struct {
	features *feature.Store
	flags    *feature.FlagStore
	stored   *featuretype.Store
	prefix   string // of the names of this check: all checks share the tables
	now      time.Time
	types    map[string]*int64 // lifetimes
	toggles  map[string]feature.Feature
	stream   []events.DynamoDBEventRecord // records that are to be delivered, or delivered again
	last     int                          // sequence number
	created  int                          // number of toggles so far

	bus     *bus
	changes map[string]int // changes that must be announced, by what the event says
}

// announced counts a change that must be announced.
func (m *model) announced(e event.Event) {
	m.bus.mu.Lock()
	defer m.bus.mu.Unlock()
	m.changes[says(e)]++
}

// says returns what an event says, without its id, time and sequence. Two changes of a toggle can say the same.
func says(e event.Event) string {
	text, _ := json.Marshal([]any{e.Type, e.Subject, e.Data}) // never fails
	return string(text)
}

func must(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (m *model) typeIDs() []string {
	return []string{m.prefix + "a", m.prefix + "b", m.prefix + "c", m.prefix + "unknown"}
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
	m.createAgain(t, f)
}

func (m *model) createAgain(t *rapid.T, f feature.Feature) {
	must(t, m.features.Create(t.Context(), f))
	m.toggles[f.Name] = f
}

func (m *model) createToggle(t *rapid.T) {
	age := time.Duration(rapid.IntRange(-2, 8).Draw(t, "days")) * 24 * time.Hour
	m.create(t, feature.Feature{Type: rapid.SampledFrom(m.typeIDs()).Draw(t, "type"), CreatedAt: m.now.Add(-age)})
}

func (m *model) changeToggle(t *rapid.T) {
	if len(m.toggles) == 0 {
		t.Skip("there are no toggles")
	}
	f := m.toggles[rapid.SampledFrom(slices.Sorted(maps.Keys(m.toggles))).Draw(t, "toggle")]
	stored, err := m.features.Get(t.Context(), f.Name)
	must(t, err)
	var reason event.Reason
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0:
		f.Archived, reason = !f.Archived, event.Archived
	case 1:
		f.Stale, reason = !f.Stale, event.MarkedStale
	case 2:
		f.Type = rapid.SampledFrom(m.typeIDs()).Draw(t, "type")
		if f.Type != stored.Type {
			reason = event.TypeChanged
		}
	default:
		reason = event.Deleted
	}
	if stored.PotentiallyStale && reason != "" {
		m.announced(flagEvent(f.Name, datetime.Format(f.CreatedAt), f.Type, m.types[f.Type], reason))
	}
	if reason != event.Deleted {
		_, err := m.features.Update(t.Context(), f.Name, func(feature.Feature) feature.Feature { return f })
		must(t, err)
		m.toggles[f.Name] = f
		return
	}
	must(t, m.features.Delete(t.Context(), f.Name))
	delete(m.toggles, f.Name)
	if rapid.Bool().Draw(t, "create again") {
		m.now = m.now.Add(time.Second) // sequences follow the clock
		m.createAgain(t, f)
	}
}

// flagEvent returns what the event of a changed flag says. Without a reason, the flag was set.
func flagEvent(toggle, created, kind string, days *int64, reason event.Reason) event.Event {
	e := event.Event{Type: event.FeaturePotentiallyStaleOn, Subject: toggle, Data: event.Feature{
		FeatureName: toggle, FeatureType: kind, LifetimeDays: days, CreatedAt: created, Reason: reason,
	}}
	if reason != "" {
		e.Type = event.FeaturePotentiallyStaleOff
	}
	return e
}

func (m *model) wait(t *rapid.T) {
	m.now = m.now.Add(rapid.SampledFrom([]time.Duration{24 * time.Hour, time.Millisecond, 100 * time.Hour}).Draw(t, "step"))
}

// inRecord returns a lifetime as the function changed takes it.
func inRecord(days *int64) int {
	if days == nil {
		return -1
	}
	return int(*days)
}

func (m *model) changeLifetime(t *rapid.T) {
	id := rapid.SampledFrom(m.typeIDs()[:3]).Draw(t, "type")
	days := rapid.SampledFrom([]*int64{new(int64(2)), new(int64(1)), new(int64(4)), new(int64(7)), nil, new(int64(2147483647))}).Draw(t, "days")
	_, err := m.stored.SetLifetime(t.Context(), id, days)
	must(t, err)
	m.last++
	m.stream = append(m.stream, changed(fmt.Sprint(m.last), id, inRecord(m.types[id]), inRecord(days)))
	if inRecord(days) != inRecord(m.types[id]) {
		m.announced(event.Event{
			Type: event.FeatureTypeUpdated, Subject: id, Data: event.FeatureType{ID: id, LifetimeDays: days, PreviousLifetimeDays: m.types[id]},
		})
	}
	m.types[id] = days
}

// lose drops a record.
func (m *model) lose(t *rapid.T) {
	if len(m.stream) == 0 {
		t.Skip("there are no records")
	}
	i := rapid.IntRange(0, len(m.stream)-1).Draw(t, "record")
	m.stream = slices.Delete(m.stream, i, i+1)
}

func (m *model) handler(f *faults) *staleness.Handler {
	now := m.now
	return &staleness.Handler{
		Logger: slog.New(slog.DiscardHandler),
		Evaluator: &staleness.Evaluator{
			Types: ownTypes{m.stored, m.prefix}, Toggles: f, Publisher: f, Now: func() time.Time { return now }, Pause: func(ctx context.Context, _ int) error { return ctx.Err() },
		},
	}
}

// deliver delivers some records in any order. Records that failed are delivered again, and so may be any others.
func (m *model) deliver(t *rapid.T) {
	if len(m.stream) == 0 {
		t.Skip("there are no records")
	}
	f, ctx := m.faulty(t)
	m.deliverTo(ctx, t, m.handler(f), rapid.IntRange(1, 3).Draw(t, "records"))
}

func (m *model) deliverTo(ctx context.Context, t *rapid.T, h *staleness.Handler, n int) {
	m.stream = rapid.Permutation(m.stream).Draw(t, "order")
	batch := slices.Clone(m.stream[:min(n, len(m.stream))])
	response, err := h.Stream(ctx, events.DynamoDBEvent{Records: batch})
	must(t, err)
	if len(response.BatchItemFailures) > 0 || rapid.Bool().Draw(t, "again") {
		return
	}
	m.stream = m.stream[len(batch):]
}

func (m *model) sweep(t *rapid.T) {
	f, ctx := m.faulty(t)
	_, _ = m.handler(f).Sweep(ctx, json.RawMessage(`{}`)) // if it fails, the next one continues
}

// race runs a delivery, two sweeps and a change of a lifetime at the same time.
func (m *model) race(t *rapid.T) {
	f, ctx := m.faulty(t)
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

// settle lets deliveries and sweeps finish, and compares every flag and every event with the model.
func (m *model) settle(t *rapid.T) {
	h := m.handler(m.reliable())
	for range 100 {
		if len(m.stream) > 0 {
			m.deliverTo(t.Context(), t, h, len(m.stream))
		}
	}
	m.now = m.now.Add(10 * time.Second) // a sweep leaves younger announcements to running re-evaluations
	h = m.handler(m.reliable())
	_, err := h.Sweep(t.Context(), nil)
	must(t, err)
	for name, want := range m.toggles {
		got, err := m.features.Get(t.Context(), name)
		must(t, err)
		if due := m.isDue(want); got.PotentiallyStale != due {
			t.Fatalf("%s, created at %s, is potentially stale: %t, want %t (now %s, lifetimes %v)", name, want.CreatedAt, got.PotentiallyStale, due, m.now, m.types)
		}
	}
	if diff := cmp.Diff(m.changes, m.bus.changes(t, m.prefix)); diff != "" {
		t.Fatalf("changes and events: %s", diff)
	}
	sent := len(m.bus.all)
	if sum, err := h.Sweep(t.Context(), nil); err != nil || sum != (staleness.Summary{}) || len(m.bus.all) != sent {
		t.Fatalf("something was left: %+v, %d events, %v", sum, len(m.bus.all)-sent, err)
	}
}

// TestModel compares flags and events with a model: whatever was lost, repeated, reordered or interrupted, once deliveries and sweeps can
// finish, every flag is correct, and every change was announced. Nothing was announced that did not happen.
func TestModel(t *testing.T) {
	t.Parallel()
	db, run := database.New(t), 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		m := &model{
			flags: feature.NewFlagStore(db.Client, db.Tables, "s"), prefix: fmt.Sprint(run, "-"), now: noon(),
			types: map[string]*int64{}, toggles: map[string]feature.Feature{}, bus: &bus{}, changes: map[string]int{},
		}
		now := func() time.Time { return m.now }
		m.stored = featuretype.NewStore(db.Client, db.Tables).Announcing("s", now)
		m.features = feature.NewStore(db.Client, db.Tables).Announcing(m.stored, now)
		m.populate(t)
		t.Repeat(map[string]func(*rapid.T){
			"create": m.createToggle, "change": m.changeToggle, "change again": m.changeToggle, "wait": m.wait,
			"change lifetime": m.changeLifetime, "change lifetime again": m.changeLifetime,
			"deliver": m.deliver, "lose": m.lose, "sweep": m.sweep, "sweep again": m.sweep,
			"race": m.race, "settle": m.settle,
		})
		m.settle(t)
	})
}
