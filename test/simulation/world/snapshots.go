package world

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// compileSnapshots is the consumer of the stream of events that compiles what applications download.
const compileSnapshots = "compile-snapshots"

// published is a snapshot of an environment.
type published struct {
	at       time.Time
	lost     bool // a part of it was lost
	epoch    string
	version  int64
	document snapshot.Document
	parts    map[string]string // the JSON of toggles and segments
	states   map[string]int    // which of the states of a toggle or segment it contains: 0 is before the first one
}

// segmentAt is a segment from a time on; nil: it does not exist.
type segmentAt struct {
	from    time.Time
	segment *toggle.Segment
}

// The keys of published.parts and published.states.
func toggleKey(name string) string { return "toggle " + name }
func segmentKey(id int64) string   { return fmt.Sprint("segment ", id) }

// deliveredSegment remembers a state of a segment.
func (w *World) deliveredSegment(c change) {
	if !segmenttable.IsSegment(c.item) {
		return
	}
	s, err := segmenttable.Unmarshal(c.item)
	w.must(err)
	state := segmentAt{from: time.Now()}
	if c.next != nil {
		state.segment = new(snapshot.NewSegment(s.Segment))
	}
	w.delivery.segments[s.ID] = append(w.delivery.segments[s.ID], state)
}

// changedSnapshot checks a change of the table Snapshots. A part does not change, and is deleted an hour after it was
// written, if the current snapshot does not have it. The parts of a snapshot exist when it is published.
func (w *World) changedSnapshot(c change) {
	if !snapshottable.IsPointer(c.item) {
		at := time.Now().Add(-time.Hour + time.Minute)
		name, environment := c.item.String(snapshottable.AttributeItem), c.item.String(snapshottable.AttributeEnvironment)
		switch {
		case c.next != nil && c.old != nil && !reflect.DeepEqual(c.next, c.old):
			w.fail("%s overwrites the part %s of a snapshot", w.engine.caller.process.name, name)
		case c.next == nil && !snapshottable.WrittenBefore(c.old, at):
			w.fail("the part %s of a snapshot is deleted less than an hour after it was written", name)
		case c.next == nil && snapshottable.BelongsTo(c.old, w.pointer(environment)):
			w.fail("the part %s of the current snapshot of %s is deleted", name, environment)
		}
		return
	}
	if c.next == nil {
		return
	}
	p, err := snapshottable.UnmarshalPointer(c.next)
	w.must(err)
	all := w.delivery.published[p.Environment]
	if n := len(all); n > 0 && all[n-1].epoch == p.Epoch && all[n-1].version == p.Version {
		return // it covers more
	}
	d, err := w.document(p)
	if err != nil {
		w.fail("%s publishes a snapshot that cannot be read: %v", w.engine.caller.process.name, err)
		return
	}
	next := &published{
		at: time.Now(), epoch: p.Epoch, version: p.Version, document: d, parts: partsOf(d), states: map[string]int{},
	}
	w.delivery.published[p.Environment] = append(all, next)
	previous := &published{}
	if len(all) > 0 {
		previous = all[len(all)-1]
	}
	w.checkOrder(p.Environment, previous, next)
}

// losePart deletes a part of the current snapshot of an environment, which nothing in the service does.
func (w *World) losePart() {
	p := w.pointer(w.delivery.installed[0].query.Environment)
	for _, item := range w.db.Items(snapshottable.Table) {
		if item.String(snapshottable.AttributeEnvironment) != p.Environment || snapshottable.IsPointer(item) ||
			!snapshottable.BelongsTo(item, p) {
			continue
		}
		w.note("the part %s is lost", item.String(snapshottable.AttributeItem))
		all := w.delivery.published[p.Environment]
		all[len(all)-1].lost = true
		w.db.Do("DeleteItem", encode(object{"TableName": snapshottable.Table, "Key": object{
			snapshottable.AttributeEnvironment: object{"S": p.Environment},
			snapshottable.AttributeItem:        object{"S": item.String(snapshottable.AttributeItem)},
		}}))
		w.engine.changes = nil
		return
	}
}

// compileWithWrongClock compiles all environments in a process whose clock is up to three days fast or slow, as that of an
// operator's computer can be.
func (w *World) compileWithWrongClock(n uint64) {
	p := w.newProcess(fmt.Sprint("operator/clock-", n))
	if p.skew = w.upTo(72*time.Hour, 20, n); w.upTo(2, 21, n) == 0 {
		p.skew = -p.skew
	}
	db, err := dynamo.NewOperatorClient(p.config(), "")
	w.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, environment := range w.existingEnvironments() {
		err := w.compiler(db, p, p.now).Compile(ctx, environment)
		w.note("%s, whose clock is wrong by %s, compiles %s: %v", p.name, p.skew, environment, err)
		w.delivery.wrongClock = true
	}
}

// document returns what the snapshot of a pointer contains.
func (w *World) document(p snapshottable.Pointer) (snapshot.Document, error) {
	s, err := snapshottable.UnmarshalParts(p, w.db.Items(snapshottable.Table))
	if err != nil {
		return snapshot.Document{}, err
	}
	return s.Document()
}

func partsOf(d snapshot.Document) map[string]string {
	parts := map[string]string{}
	for _, f := range d.Features {
		parts[toggleKey(f.Name)] = withTags(f)
	}
	for _, s := range d.Segments {
		parts[segmentKey(s.ID)] = string(encode(s))
	}
	return parts
}

// withTags returns the JSON of a toggle with its tags, which are not delivered.
func withTags(f evaluation.Feature) string {
	return string(encode(object{"toggle": f, "tags": f.Tags}))
}

// checkOrder checks that a snapshot contains of each toggle and segment a state that is not older than the one in the
// snapshot before. A state can be the same as an earlier one, so it counts as the earliest one that is possible.
func (w *World) checkOrder(environment string, previous, next *published) {
	for name, states := range w.activation.toggles {
		w.advance(environment, toggleKey(name), previous, next, len(states), func(i int) string {
			return withoutParent(toggleForm(states[i].feature, environment))
		})
	}
	for id, states := range w.delivery.segments {
		if key := segmentKey(id); next.parts[key] != "" {
			w.advance(environment, key, previous, next, len(states), func(i int) string {
				return segmentForm(states[i].segment)
			})
		} else {
			next.states[key] = previous.states[key] // no strategy uses it
		}
	}
}

// advance sets which of n states of a toggle or segment a snapshot contains.
func (w *World) advance(environment, key string, previous, next *published, n int, form func(int) string) {
	state, part := previous.states[key], next.parts[key]
	if part != previous.parts[key] || previous.states == nil {
		part = w.comparable(next, key)
		for ; state <= n; state++ {
			if state == 0 && part == "" || state > 0 && form(state-1) == part {
				break
			}
		}
	}
	if next.states[key] = state; state > n {
		w.fail("the snapshot %d of %s has a state of the %s that is older than in the snapshot before, or none at all: %s",
			next.version, environment, key, part)
	}
}

// comparable returns the JSON of a toggle or segment without what depends on another toggle.
func (w *World) comparable(p *published, key string) string {
	for _, f := range p.document.Features {
		if toggleKey(f.Name) == key {
			return withoutParent(&f)
		}
	}
	return p.parts[key]
}

// toggleForm returns the form of a toggle in an environment; nil: applications do not see it.
func toggleForm(f *toggle.Feature, environment string) *evaluation.Feature {
	if f == nil || f.Archived {
		return nil
	}
	return new(snapshot.NewFeature(*f, environment))
}

func segmentForm(s *toggle.Segment) string {
	if s == nil {
		return ""
	}
	return string(encode(s))
}

// withoutParent returns the JSON of a toggle without what depends on the variants of its parent.
func withoutParent(f *evaluation.Feature) string {
	if f == nil {
		return ""
	}
	plain := *f
	plain.Dependencies = slices.Clone(f.Dependencies)
	for i := range plain.Dependencies {
		if len(plain.Dependencies[i].Variants) > 0 {
			plain.Enabled, plain.Dependencies[i].Variants = false, nil
		}
	}
	return withTags(plain)
}

const bySweep = "a sweep"

// unswept is the length of the intervals in which the world can be without sweeps of snapshots.
const unswept = 4 * time.Minute

// withoutSweeps reports whether no sweep compiles snapshots at a time, as in some intervals that are longer than what a
// sweep compiles again anyway. The first whole one is among them, and the second one is not.
func (w *World) withoutSweeps(t time.Time) bool {
	interval := t.Truncate(unswept)
	probability := 0.4
	switch first := w.firstInterval(); {
	case interval.Equal(first):
		probability = 1
	case interval.Equal(first.Add(unswept)):
		probability = 0
	}
	return w.happens(redelivered, mix(hashOf("sweeps"), uint64(interval.UnixNano())), probability)
}

func (w *World) firstInterval() time.Time { return w.start.Truncate(unswept).Add(unswept) }

// isQuiet reports whether the actors do nothing at a time: from a minute after the begin of the first interval without
// sweeps until a sweep after it, so that a change that the stream has given up is not compiled together with later ones.
func (w *World) isQuiet(t time.Time) bool {
	begun, ended := w.firstInterval(), w.firstInterval().Add(unswept)
	return w.delivers && w.has(redelivered) && !t.Before(begun.Add(time.Minute)) && t.Before(ended.Add(unswept)) &&
		w.delivery.swept.Before(ended)
}

// givesUp decides whether the stream gives up the records with a key: more often while there are no sweeps, in which it
// can compile later changes, most often the last records before a time in which there are none, and after somebody with a
// wrong clock has compiled.
func (w *World) givesUp(key uint64) bool {
	if w.delivery.wrongClock && w.happens(wrongClock, mix(key, 2), 0.4) {
		return true
	}
	probability := 0.1
	switch {
	case w.isQuiet(time.Now().Add(meeting)):
		probability = 0.9
	case w.withoutSweeps(time.Now()):
		probability = 0.4
	}
	return w.happens(redelivered, key, probability)
}

// sweepSnapshots invokes the sweep, and checks that nothing is missing afterwards.
func (w *World) sweepSnapshots() bool {
	if w.withoutSweeps(time.Now()) {
		return false
	}
	begun := time.Now()
	if _, err := w.invoke(context.Background(), "sweep-snapshots", []byte("{}")); err != nil {
		return false
	}
	w.turn(fmt.Sprint("sweep of snapshots of ", begun))
	w.checkCovered(begun, bySweep)
	w.delivery.swept = begun
	if w.delivery.gaveUp.Before(begun) {
		w.delivery.gaveUp = time.Time{}
	}
	return true
}

// checkCovered checks that the snapshots contain the states that have not changed since a time.
func (w *World) checkCovered(since time.Time, what string) {
	for _, environment := range w.existingEnvironments() {
		states := w.environments.states[environment]
		if !states[len(states)-1].from.Before(since) {
			continue
		}
		all := w.delivery.published[environment]
		if len(all) == 0 && what != bySweep { // since a restore, no event has concerned it
			continue
		}
		if len(all) == 0 {
			w.fail("after %s, %s has no snapshot", what, environment)
			return
		}
		w.checkCurrent(environment, all[len(all)-1], since, what)
	}
}

func (w *World) checkCurrent(environment string, p *published, since time.Time, what string) {
	for _, name := range slices.Sorted(maps.Keys(w.activation.toggles)) {
		states := w.activation.toggles[name]
		last := states[len(states)-1]
		if !last.from.Before(since) {
			continue
		}
		family := map[string]evaluation.Feature{}
		if last.feature != nil && last.feature.Dependency != nil {
			parent := last.feature.Dependency.Feature
			of := w.activation.toggles[parent]
			if len(of) > 0 && !of[len(of)-1].from.Before(since) {
				continue
			}
			if f := toggleForm(w.feature(parent), environment); f != nil {
				family[parent] = *f
			}
		}
		want := ""
		if f := toggleForm(last.feature, environment); f != nil {
			family[name] = *f
			snapshot.Resolve(family)
			want = withTags(family[name])
		}
		if got := p.parts[toggleKey(name)]; got != want {
			w.fail("after %s, the snapshot %d of %s has of the toggle %s %s, but it is %s", what, p.version, environment,
				name, got, want)
		}
		if w.segmentsRestedSince(since) {
			w.checkDecisions(environment, p, name, what)
		}
	}
	for _, s := range p.document.Segments {
		states := w.delivery.segments[s.ID]
		last := states[len(states)-1]
		got, want := p.parts[segmentKey(s.ID)], segmentForm(last.segment)
		if last.from.Before(since) && got != want {
			w.fail("after %s, the snapshot %d of %s has the segment %s, but it is %s", what, p.version, environment, got, want)
		}
	}
}

// segmentsRestedSince reports whether no segment has changed since a time.
func (w *World) segmentsRestedSince(since time.Time) bool {
	for _, states := range w.delivery.segments {
		if !states[len(states)-1].from.Before(since) {
			return false
		}
	}
	return true
}

// restartHistories begins the states of toggles, segments and environments again, after the tables were restored.
func (w *World) restartHistories() {
	now := time.Now()
	w.activation.toggles = map[string][]toggleAt{}
	for _, item := range w.db.Items("Features") {
		name := item.String("name")
		w.activation.toggles[name] = []toggleAt{{now, w.decodeFeature(item)}}
	}
	w.delivery.segments = map[int64][]segmentAt{}
	for _, item := range w.db.Items("Segments") {
		w.deliveredSegment(change{next: item, item: item})
	}
	for _, name := range w.existingEnvironments() {
		w.environments.states[name] = append(w.environments.states[name], existence{now, true})
	}
	w.delivery.published = map[string][]*published{}
	w.care.restored = true
}

// pointer returns the pointer of an environment.
func (w *World) pointer(environment string) snapshottable.Pointer {
	for _, item := range w.db.Items(snapshottable.Table) {
		if snapshottable.IsPointer(item) && item.String(snapshottable.AttributeEnvironment) == environment {
			p, err := snapshottable.UnmarshalPointer(item)
			w.must(err)
			return p
		}
	}
	return snapshottable.Pointer{}
}
