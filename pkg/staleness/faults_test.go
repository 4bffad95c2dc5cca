package staleness_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toggleadmin/pkg/event"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
)

// faults is toggles on the engine, and a bus, whose calls fail. Whether a call fails depends on the call and not on its turn, since calls come
// in any order.
type faults struct {
	staleness.Toggles
	model   *model
	seed    uint32
	percent uint32 // of the calls of toggles
	bus     uint32 // percent of the events
	crash   func() // ends the process
	writes  int    // before the crash; negative: no crash

	mu      sync.Mutex
	crashed bool
	tries   map[string]int
}

// faulty also returns the context that a crash cancels.
func (m *model) faulty(t *rapid.T) (*faults, context.Context) {
	ctx, crash := context.WithCancel(t.Context())
	t.Cleanup(crash)
	return &faults{
		Toggles: m.flags, model: m, seed: rapid.Uint32().Draw(t, "seed"), percent: rapid.SampledFrom([]uint32{0, 0, 10, 60, 100}).Draw(t, "percent"),
		bus: rapid.SampledFrom([]uint32{0, 0, 60, 100}).Draw(t, "percent of the bus"), crash: crash, writes: rapid.SampledFrom([]int{-1, -1, -1, 0, 1, 2, 3}).Draw(t, "writes"), tries: map[string]int{},
	}, ctx
}

// reliable returns toggles and a bus whose calls do not fail.
func (m *model) reliable() *faults {
	return &faults{Toggles: m.flags, model: m, writes: -1, tries: map[string]int{}}
}

var errLost = errors.New("response lost")

// next returns the error of a call. errLost is the error after the call was carried out.
func (s *faults) next(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries[call]++
	h := fnv.New32a()
	fmt.Fprint(h, s.seed, call, s.tries[call])
	sum := h.Sum32()
	percent := s.percent
	if strings.HasPrefix(call, "publish") {
		percent = s.bus
	}
	switch {
	case s.crashed:
		return errBroken
	case sum%100 >= percent || s.tries[call] > 20: // a call that is always throttled would never end
		return nil
	}
	return []error{throttled(), errBroken, errLost}[sum/100%3]
}

// wrote counts a write and reports whether the process still runs.
func (s *faults) wrote() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writes == 0 {
		s.crashed = true
		s.crash()
	}
	s.writes--
	return !s.crashed
}

func (s *faults) Due(ctx context.Context, r feature.Range, after *feature.Indexed) (feature.Page, error) {
	if err := s.next(fmt.Sprint("due ", r.Type, r.Shard, r.PotentiallyStale, after)); err != nil {
		return feature.Page{}, err
	}
	return s.Toggles.Due(ctx, r, after)
}

func (s *faults) Flip(
	ctx context.Context, r feature.Range, t feature.Indexed, now time.Time,
) (flipped bool, p feature.Pending, err error) {
	ctx = context.WithoutCancel(ctx) // the model must know whether the toggle was flipped, also on a busy machine
	err = s.write("flip "+t.Name, func() (err error) {
		flipped, p, err = s.Toggles.Flip(ctx, r, t, now)
		if flipped {
			reason := event.LifetimeChanged
			if !r.PotentiallyStale {
				reason = ""
			}
			s.model.announced(flagEvent(t.Name, t.CreatedAt, r.Type, r.LifetimeDays, reason))
		}
		return err
	})
	if err != nil {
		return false, feature.Pending{}, err
	}
	return flipped, p, nil
}

// write carries a write out, unless it fails before.
func (s *faults) write(name string, call func() error) error {
	fault := s.next(name)
	if fault != nil && !errors.Is(fault, errLost) {
		return fault
	}
	err := call()
	if err == nil && (!s.wrote() || fault != nil) {
		return errLost
	}
	return err
}

func (s *faults) Unannounced(
	ctx context.Context, shard int, until time.Time, after *feature.PendingKey,
) (page feature.PendingPage, err error) {
	if err := s.next(fmt.Sprint("unannounced ", shard, after)); err != nil {
		return page, err
	}
	return s.Toggles.Unannounced(ctx, shard, until, after)
}

func (s *faults) Pending(ctx context.Context, k feature.PendingKey) (p feature.Pending, err error) {
	if err := s.next("pending " + k.Name); err != nil {
		return p, err
	}
	return s.Toggles.Pending(ctx, k)
}

// Announced clears announcements one by one, as DynamoDB does.
func (s *faults) Announced(ctx context.Context, all []feature.Pending) []error {
	errs := make([]error, len(all))
	for i, p := range all {
		errs[i] = s.write("announced "+p.Events[0].ID, func() error { return s.Toggles.Announced(ctx, []feature.Pending{p})[0] })
	}
	return errs
}

// Publish implements event.Publisher. Events fail one by one.
func (s *faults) Publish(_ context.Context, events []event.Event) []error {
	errs := make([]error, len(events))
	for i, e := range events {
		errs[i] = s.write("publish "+e.ID, func() error {
			s.model.bus.mu.Lock()
			defer s.model.bus.mu.Unlock()
			s.model.bus.all = append(s.model.bus.all, e)
			return nil
		})
	}
	return errs
}

// bus is the events that were sent, in any order, some more than once.
type bus struct {
	mu  sync.Mutex
	all []event.Event
}

// changes returns the number of different events that say the same. It fails the test if two events have one id, or if the sequences of a
// subject do not have the order of the changes: a flag is set and cleared in turn.
func (b *bus) changes(t *rapid.T, prefix string) map[string]int {
	byID, bySubject, counts := map[string]event.Event{}, map[string][]event.Event{}, map[string]int{}
	for _, e := range b.all {
		if !strings.HasPrefix(e.Subject, prefix) { // left by a check that failed
			continue
		}
		switch data := e.Data.(type) { // says ignores what the model does not know
		case event.Feature:
			data.Project = ""
			e.Data = data
		case event.FeatureType:
			data.ChangedBy = event.Changer{}
			e.Data = data
		}
		if first, ok := byID[e.ID]; !ok {
			byID[e.ID] = e
			bySubject[e.Subject] = append(bySubject[e.Subject], e)
			counts[says(e)]++
		} else if diff := cmp.Diff(first, e); diff != "" {
			t.Fatalf("two events have one id: %s", diff)
		}
	}
	for subject, all := range bySubject {
		slices.SortFunc(all, func(a, b event.Event) int { return strings.Compare(a.Sequence, b.Sequence) })
		for i, e := range all {
			if i > 0 && e.Sequence == all[i-1].Sequence || e.Type != event.FeatureTypeUpdated && (e.Type == event.FeaturePotentiallyStaleOn) != (i%2 == 0) {
				t.Fatalf("the events of %s have the wrong order: %v", subject, all)
			}
		}
	}
	return counts
}

// ownTypes are the types of one check.
type ownTypes struct {
	*featuretype.Store
	prefix string
}

func (s ownTypes) List(ctx context.Context) ([]featuretype.FeatureType, error) {
	all, err := s.Store.List(ctx)
	return slices.DeleteFunc(all, func(t featuretype.FeatureType) bool { return !strings.HasPrefix(t.ID, s.prefix) }), err
}
