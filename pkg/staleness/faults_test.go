package staleness_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"pgregory.net/rapid"

	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
)

type fault int

const (
	none fault = iota
	slowDown
	failure
	lost // after the call was carried out
	late // the index shows an earlier state
	kinds
)

// faults decides how each call of one run fails. It depends on the call and not on its turn, since calls come in any order.
type faults struct {
	seed    uint32
	percent uint32 // of the calls
	only    fault  // none: all kinds
	crash   func() // ends the process
	writes  int    // before the crash; negative: no crash

	mu      sync.Mutex
	crashed bool
	tries   map[string]int
}

// drawFaults also returns the context that the crash cancels.
func drawFaults(t *rapid.T) (*faults, context.Context) {
	ctx, crash := context.WithCancel(t.Context())
	t.Cleanup(crash)
	return &faults{
		seed: rapid.Uint32().Draw(t, "seed"), percent: rapid.SampledFrom([]uint32{0, 0, 10, 60, 100}).Draw(t, "percent"),
		only:  rapid.SampledFrom([]fault{none, none, slowDown, failure, lost, late, late, late}).Draw(t, "only"),
		crash: crash, writes: rapid.SampledFrom([]int{-1, -1, -1, 0, 1, 2, 3}).Draw(t, "writes"),
	}, ctx
}

func (f *faults) mayBeLate() bool { return f.percent > 0 && (f.only == none || f.only == late) }

func (f *faults) next(call string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed {
		return failure
	}
	if f.tries == nil {
		f.tries = map[string]int{}
	}
	f.tries[call]++
	h := fnv.New32a()
	fmt.Fprint(h, f.seed, call, f.tries[call])
	sum := h.Sum32()
	switch {
	case sum%100 >= f.percent || f.tries[call] > 20: // a call that is always throttled would never end
		return none
	case f.only != none:
		return f.only
	}
	return slowDown + fault(sum/100%uint32(kinds-1))
}

// wrote counts a write and reports whether the process still runs.
func (f *faults) wrote() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crash != nil && f.writes >= 0 && !f.crashed {
		if f.writes--; f.writes < 0 {
			f.crashed = true
			f.crash()
		}
	}
	return !f.crashed
}

func (k fault) err() error {
	if k == slowDown {
		return throttled()
	}
	return errors.New("injected")
}

// lateIndex remembers what ranges contained.
type lateIndex struct {
	mu     sync.Mutex
	before map[feature.Range][]feature.Indexed
}

func (i *lateIndex) catchUp() {
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.before)
}

// page remembers what a range contains now and returns what it contained before.
func (i *lateIndex) page(r feature.Range, now feature.Page) (then feature.Page) {
	cutoff := r.Cutoff
	r.Cutoff = nil
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, t := range i.before[r] {
		if cutoff == nil || t.CreatedAt > datetime.Format(*cutoff) == r.PotentiallyStale {
			then.Toggles = append(then.Toggles, t)
		}
	}
	i.before[r] = slices.Clone(now.Toggles)
	return then
}

// faultyToggles are toggles on the engine whose calls fail.
type faultyToggles struct {
	staleness.Toggles
	faults *faults
	index  *lateIndex
}

func (s *faultyToggles) Due(ctx context.Context, r feature.Range, after *feature.Indexed) (feature.Page, error) {
	kind := s.faults.next(fmt.Sprint("due ", r.Type, r.Shard, r.PotentiallyStale, after))
	if kind != none && kind != late {
		return feature.Page{}, kind.err()
	}
	page, err := s.Toggles.Due(ctx, r, after)
	if err != nil || after != nil {
		return page, err
	}
	if before := s.index.page(r, page); kind == late {
		return before, nil
	}
	return page, nil
}

func (s *faultyToggles) Flip(ctx context.Context, r feature.Range, t feature.Indexed) (bool, error) {
	kind := s.faults.next("flip " + t.Name)
	if kind == slowDown || kind == failure {
		return false, kind.err()
	}
	flipped, err := s.Toggles.Flip(ctx, r, t)
	if err == nil && (!s.faults.wrote() || kind == lost) {
		return false, lost.err()
	}
	return flipped, err
}

// overtakenToggles changes the first toggle that is read, before the read returns.
type overtakenToggles struct {
	staleness.Toggles
	change func(ctx context.Context, name string) error
	once   sync.Once
	err    error
}

func (s *overtakenToggles) Due(ctx context.Context, r feature.Range, after *feature.Indexed) (feature.Page, error) {
	page, err := s.Toggles.Due(ctx, r, after)
	if len(page.Toggles) > 0 {
		s.once.Do(func() { s.err = s.change(context.WithoutCancel(ctx), page.Toggles[0].Name) })
	}
	return page, err
}

// faultyTypes are the types of one check.
type faultyTypes struct {
	model  *model
	faults *faults
}

func (s *faultyTypes) Get(ctx context.Context, id string) (featuretype.FeatureType, error) {
	if kind := s.faults.next("get " + id); kind != none && kind != late {
		return featuretype.FeatureType{}, kind.err()
	}
	return s.model.stored.Get(ctx, id)
}

func (s *faultyTypes) List(ctx context.Context) ([]featuretype.FeatureType, error) {
	if kind := s.faults.next("list"); kind != none && kind != late {
		return nil, kind.err()
	}
	all, err := s.model.stored.List(ctx)
	return s.model.mine(all), err
}
