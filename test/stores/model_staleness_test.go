package stores_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"pgregory.net/rapid"

	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
)

// aging is the model of the toggles of some types beside the real thing: who must be potentially stale, said as the contract says it.
type aging struct {
	g       *ground
	prefix  string // of this run's types and toggles: runs share the tables
	now     time.Time
	types   map[string]*int64 // lifetimes of those that exist
	toggles map[string]feature.Feature
	stream  []events.DynamoDBEventRecord // not delivered yet, or to be delivered again
	last    int                          // sequence number
	created int                          // toggles so far
	index   *lateIndex
}

func (a *aging) typeIDs() []string {
	return []string{a.prefix + "a", a.prefix + "b", a.prefix + "c", a.prefix + "unknown"}
}

// drawLifetime draws nil, as 0 is stored, or days. (The generators prefer what is first, so that is what makes most happen.)
func drawLifetime(t *rapid.T) *int64 {
	days := rapid.SampledFrom([]int64{2, 1, 4, 7, 0, 2147483647}).Draw(t, "days")
	if days == 0 {
		return nil
	}
	return &days
}

func rarely(t *rapid.T, label string) bool {
	return rapid.SampledFrom([]bool{false, false, false, false, true}).Draw(t, label)
}

// isDue is the contract's rule.
func (a *aging) isDue(f feature.Feature) bool {
	days := a.types[f.Type]
	if days == nil || f.Archived || f.Stale {
		return false
	}
	age := a.now.Sub(f.CreatedAt)
	return *days < 100_000 && age >= time.Duration(*days)*24*time.Hour
}

// populate begins with three types and toggles of each, between one and four days old.
func (a *aging) populate(t *rapid.T) {
	for i, id := range a.typeIDs()[:3] {
		a.types[id] = new(int64(i + 1))
		must0(t, a.g.FeatureTypes.Create(t.Context(), featuretype.FeatureType{ID: id, LifetimeDays: a.types[id]}))
		for age := range 4 {
			a.create(t, feature.Feature{Type: id, CreatedAt: a.now.Add(-time.Duration(age+1) * 24 * time.Hour)})
		}
	}
}

func (a *aging) create(t *rapid.T, f feature.Feature) {
	a.created++
	f.Name = fmt.Sprint(a.prefix, "toggle", a.created)
	must0(t, a.g.Features.Create(t.Context(), f))
	a.toggles[f.Name] = f
}

func (a *aging) createToggle(t *rapid.T) {
	a.create(t, feature.Feature{
		Type: rapid.SampledFrom(a.typeIDs()).Draw(t, "type"),
		CreatedAt: a.now.Add(time.Duration(rapid.SampledFrom([]int{-3, -5, -2, -1, -8, -4, -7, 0, 2}).Draw(t, "days"))*24*time.Hour +
			time.Duration(rapid.IntRange(-1, 1).Draw(t, "milliseconds"))*time.Millisecond),
		Archived: rarely(t, "archived"), Stale: rarely(t, "stale"),
	})
}

func (a *aging) drawToggle(t *rapid.T) feature.Feature {
	if len(a.toggles) == 0 {
		t.Skip("no toggle yet")
	}
	names := make([]string, 0, len(a.toggles))
	for name := range a.toggles {
		names = append(names, name)
	}
	slices.Sort(names)
	return a.toggles[rapid.SampledFrom(names).Draw(t, "toggle")]
}

func (a *aging) changeToggle(t *rapid.T) {
	must0(t, a.change(t.Context(), a.drawToggle(t), a.drawChange(t)))
}

// drawChange draws a change of a toggle; nil is its end.
func (a *aging) drawChange(t *rapid.T) func(*feature.Feature) {
	id := rapid.SampledFrom(a.typeIDs()).Draw(t, "type")
	return rapid.SampledFrom([]func(*feature.Feature){
		func(f *feature.Feature) { f.Archived = !f.Archived },
		func(f *feature.Feature) { f.Stale = !f.Stale },
		func(f *feature.Feature) { f.Type = id },
		nil,
	}).Draw(t, "change")
}

func (a *aging) change(ctx context.Context, f feature.Feature, change func(*feature.Feature)) error {
	if change == nil {
		delete(a.toggles, f.Name)
		return a.g.Features.Delete(ctx, f.Name)
	}
	change(&f)
	_, err := a.g.Features.Update(ctx, f.Name, func(feature.Feature) feature.Feature { return f })
	a.toggles[f.Name] = f
	return err
}

// wait moves the clock by a little, by days, or to the very moment when a toggle's lifetime ends.
func (a *aging) wait(t *rapid.T) {
	steps := []time.Duration{time.Millisecond, time.Hour, 24 * time.Hour}
	if len(a.toggles) > 0 {
		f := a.drawToggle(t)
		if days := a.types[f.Type]; days != nil && *days < 100_000 {
			if end := f.CreatedAt.Add(time.Duration(*days) * 24 * time.Hour).Sub(a.now); end > time.Millisecond {
				steps = append(steps, end-time.Millisecond, end)
			}
		}
	}
	a.now = a.now.Add(rapid.SampledFrom(steps).Draw(t, "step"))
	if rapid.Bool().Draw(t, "settle") {
		a.settle(t)
	}
}

// record writes what the stream says of a type's change.
func (a *aging) record(id, event string, before, after *int64) {
	image := func(days *int64) map[string]events.DynamoDBAttributeValue {
		item := map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute(id)}
		if days != nil {
			item["lifetimeDays"] = events.NewNumberAttribute(fmt.Sprint(*days))
		}
		return item
	}
	a.last++
	r := events.DynamoDBEventRecord{EventName: event, Change: events.DynamoDBStreamRecord{
		Keys:           map[string]events.DynamoDBAttributeValue{"id": events.NewStringAttribute(id)},
		SequenceNumber: fmt.Sprint(a.last), ApproximateCreationDateTime: events.SecondsEpochTime{Time: a.now},
	}}
	if event != "INSERT" {
		r.Change.OldImage = image(before)
	}
	if event != "REMOVE" {
		r.Change.NewImage = image(after)
	}
	a.stream = append(a.stream, r)
}

// changeLifetime changes a type's lifetime, or makes the type.
func (a *aging) changeLifetime(t *rapid.T) {
	id, days := rapid.SampledFrom(a.typeIDs()[:3]).Draw(t, "type"), drawLifetime(t)
	before, exists := a.types[id]
	if !exists {
		must0(t, a.g.FeatureTypes.Create(t.Context(), featuretype.FeatureType{ID: id, LifetimeDays: days}))
		a.record(id, "INSERT", nil, days)
	} else {
		_, err := a.g.FeatureTypes.SetLifetime(t.Context(), id, days)
		must0(t, err)
		a.record(id, "MODIFY", before, days)
	}
	a.types[id] = days
}

func (a *aging) deleteType(t *rapid.T) {
	id := rapid.SampledFrom(a.typeIDs()[:3]).Draw(t, "type")
	before, exists := a.types[id]
	if !exists || !rarely(t, "delete") {
		t.Skip("there is no such type, or it stays: most do")
	}
	must0(t, a.g.drop(t.Context(), id))
	a.record(id, "REMOVE", before, nil)
	delete(a.types, id)
}

// lose drops a record, as the stream's end of patience does. What it said of a type that exists the sweep finds.
func (a *aging) lose(t *rapid.T) {
	if len(a.stream) == 0 {
		t.Skip("nothing to lose")
	}
	i := rapid.IntRange(0, len(a.stream)-1).Draw(t, "record")
	if a.stream[i].EventName == "REMOVE" {
		t.Skip("no sweep would find its toggles")
	}
	a.stream = slices.Delete(a.stream, i, i+1)
}

// handlers are the two functions, with an Evaluator whose calls meet the faults.
func (a *aging) handlers(f *faults) (*staleness.Stream, *staleness.Sweeper) {
	now := a.now
	e := &staleness.Evaluator{
		Toggles: &faultyFlags{Toggles: a.g.Flags, faults: f, index: a.index}, Now: func() time.Time { return now },
		Pause: func(ctx context.Context, _ int) error { return ctx.Err() },
	}
	types := &faultyTypes{aging: a, faults: f}
	report := staleness.Report{Logger: slog.New(slog.DiscardHandler)}
	return &staleness.Stream{Types: types, Evaluator: e, Report: report}, &staleness.Sweeper{Types: types, Evaluator: e, Report: report}
}

// deliver hands over some records, in any order, and keeps those that are to come again: reported as failed, or by chance.
func (a *aging) deliver(t *rapid.T) {
	if len(a.stream) == 0 {
		t.Skip("nothing to deliver")
	}
	f, ctx := drawFaults(t)
	stream, _ := a.handlers(f)
	a.hand(ctx, t, stream, rapid.IntRange(1, 3).Draw(t, "records"), f.mayBeLate())
}

func (a *aging) hand(ctx context.Context, t *rapid.T, stream *staleness.Stream, n int, late bool) {
	a.stream = rapid.Permutation(a.stream).Draw(t, "order")
	batch := slices.Clone(a.stream[:min(n, len(a.stream))])
	answer, err := stream.Handle(ctx, events.DynamoDBEvent{Records: batch})
	must0(t, err)
	if len(answer.BatchItemFailures) > 0 || rapid.Bool().Draw(t, "again") {
		return
	}
	a.stream = a.stream[len(batch):]
	if !late {
		return
	}
	// Only this record leads to a deleted type's toggles: it comes again when the index has them (see the package's comment).
	for _, r := range batch {
		if r.EventName == "REMOVE" {
			a.stream = append(a.stream, r)
		}
	}
}

func (a *aging) sweep(t *rapid.T) {
	f, ctx := drawFaults(t)
	_, sweeper := a.handlers(f)
	_, _ = sweeper.Handle(ctx, json.RawMessage(`{}`)) // it may fail: the next one goes on
}

// overtake changes a toggle between a sweep's read and its write.
func (a *aging) overtake(t *rapid.T) {
	_, sweeper := a.handlers(&faults{})
	change := a.drawChange(t)
	flags := &overtakenFlags{Toggles: a.g.Flags, change: func(ctx context.Context, name string) error {
		return a.change(ctx, a.toggles[name], change)
	}}
	sweeper.Evaluator.Toggles = flags
	_, err := sweeper.Handle(t.Context(), nil)
	must0(t, errors.Join(err, flags.err))
}

// race runs everything at once: a delivery, two sweeps, and a change of lifetime.
func (a *aging) race(t *rapid.T) {
	f, ctx := drawFaults(t)
	stream, sweeper := a.handlers(f)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { _, _ = sweeper.Handle(ctx, nil) })
	}
	batch := slices.Clone(a.stream)
	all.Go(func() { _, _ = stream.Handle(ctx, events.DynamoDBEvent{Records: batch}) })
	a.changeLifetime(t)
	all.Wait()
}

// sane holds what is true at any moment: nothing is flagged that is archived or marked as stale.
func (a *aging) sane(t *rapid.T) {
	for name, want := range a.toggles {
		if !want.Archived && !want.Stale {
			continue
		}
		got, err := a.g.Features.Get(t.Context(), name)
		must0(t, err)
		if got.PotentiallyStale {
			t.Fatalf("%s is flagged: %+v", name, got)
		}
	}
}

// settle lets deliveries and sweeps finish, and compares every flag with the model's.
func (a *aging) settle(t *rapid.T) {
	f := &faults{}
	stream, sweeper := a.handlers(f)
	a.index.catchUp()
	for range 100 {
		if len(a.stream) == 0 {
			break
		}
		a.hand(t.Context(), t, stream, len(a.stream), false)
	}
	if _, err := sweeper.Handle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range a.toggles {
		got, err := a.g.Features.Get(t.Context(), name)
		must0(t, err)
		if want.PotentiallyStale = a.isDue(want); got.PotentiallyStale != want.PotentiallyStale {
			t.Fatalf("%s, created at %s, is potentially stale: %t, want %t (now %s, lifetimes %v)",
				name, want.CreatedAt, got.PotentiallyStale, want.PotentiallyStale, a.now, a.types)
		}
	}
	f.calls = 0
	if sum, err := sweeper.Handle(t.Context(), nil); err != nil || sum != (staleness.Summary{}) {
		t.Fatalf("something was left: %+v, %v", sum, err)
	}
}

// TestAgingOfToggles holds the flags against a model: whatever was lost, repeated, reordered, interrupted or late, once deliveries and
// sweeps are allowed to finish, every flag is what the contract says.
func TestAgingOfToggles(t *testing.T) {
	t.Parallel()
	for name, ground := range grounds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, run := ground(t), 0
			rapid.Check(t, func(t *rapid.T) {
				run++
				a := &aging{
					g: g, prefix: fmt.Sprint(run, "-"), now: later(), types: map[string]*int64{}, toggles: map[string]feature.Feature{},
					index: &lateIndex{before: map[feature.Range][]feature.Indexed{}},
				}
				a.populate(t)
				t.Repeat(map[string]func(*rapid.T){
					"create": a.createToggle, "change": a.changeToggle, "wait": a.wait,
					"change lifetime": a.changeLifetime, "change it again": a.changeLifetime, "delete type": a.deleteType,
					"change more": a.changeToggle, "deliver": a.deliver, "lose": a.lose, "sweep": a.sweep, "sweep more": a.sweep,
					"overtake": a.overtake, "at once": a.race, "settle": a.settle,
					"": a.sane,
				})
				a.settle(t)
			})
		})
	}
}

// mine are this run's types.
func (a *aging) mine(all []featuretype.FeatureType) []featuretype.FeatureType {
	return slices.DeleteFunc(all, func(t featuretype.FeatureType) bool { return !strings.HasPrefix(t.ID, a.prefix) })
}

func must0(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

var errInjected = errors.New("injected")
