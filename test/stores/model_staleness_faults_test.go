package stores_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/aws/smithy-go"
	"pgregory.net/rapid"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
)

// faults decides what each call of one run meets. It decides by the call, not by its turn: calls come in any order.
type faults struct {
	seed    uint32
	percent uint32 // of the calls
	only    fault  // none: of every kind
	crash   func() // ends the process, so to speak
	writes  int    // until then; negative: it does not end

	mu      sync.Mutex
	crashed bool
	calls   int
	tries   map[string]int
}

// drawFaults draws them, and the context that ends with the process.
func drawFaults(t *rapid.T) (*faults, context.Context) {
	ctx, crash := context.WithCancel(t.Context())
	t.Cleanup(crash)
	return &faults{
		seed: rapid.Uint32().Draw(t, "seed"), percent: rapid.SampledFrom([]uint32{0, 0, 10, 60, 100}).Draw(t, "percent"),
		only:  rapid.SampledFrom([]fault{none, none, throttled, failed, lost, late, late, late}).Draw(t, "only"),
		crash: crash, writes: rapid.SampledFrom([]int{-1, -1, -1, 0, 1, 2, 3}).Draw(t, "writes"),
	}, ctx
}

type fault int

const (
	none fault = iota
	throttled
	failed
	lost // after it was carried out
	late // an index that is behind
	kinds
)

// mayBeLate says whether a call may meet an index that is behind.
func (f *faults) mayBeLate() bool { return f.percent > 0 && (f.only == none || f.only == late) }

// next decides on a call.
func (f *faults) next(call string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed {
		return failed
	}
	if f.tries == nil {
		f.tries = map[string]int{}
	}
	f.calls++
	f.tries[call]++
	h := fnv.New32a()
	fmt.Fprint(h, f.seed, call, f.tries[call])
	sum := h.Sum32()
	if sum%100 >= f.percent || f.tries[call] > 20 { // throttling for ever would never end
		return none
	}
	if f.only != none {
		return f.only
	}
	return throttled + fault(sum/100%uint32(kinds-1))
}

// wrote counts a write, and says whether the process still lives.
func (f *faults) wrote() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed || f.crash == nil || f.writes < 0 {
		return !f.crashed
	}
	if f.writes--; f.writes < 0 {
		f.crashed = true
		f.crash()
	}
	return !f.crashed
}

func (k fault) err() error {
	if k == throttled {
		return apierror.NewUnavailable(&smithy.GenericAPIError{Code: "ThrottlingException", Message: "injected"})
	}
	return apierror.NewUnavailable(errInjected)
}

// lateIndex remembers what was in ranges.
type lateIndex struct {
	mu     sync.Mutex
	before map[feature.Range][]feature.Indexed
}

func (i *lateIndex) catchUp() {
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.before)
}

// page remembers what a range holds, and gives what it held before.
func (i *lateIndex) page(r feature.Range, now feature.Page) feature.Page {
	cutoff := r.Cutoff
	r.Cutoff = nil
	i.mu.Lock()
	defer i.mu.Unlock()
	var then feature.Page
	for _, t := range i.before[r] {
		if cutoff == nil || t.CreatedAt > datetime.Format(*cutoff) == r.PotentiallyStale {
			then.Toggles = append(then.Toggles, t)
		}
	}
	i.before[r] = slices.Clone(now.Toggles)
	return then
}

type faultyFlags struct {
	staleness.Toggles
	faults *faults
	index  *lateIndex
}

func (s *faultyFlags) Due(ctx context.Context, r feature.Range, after *feature.Indexed) (feature.Page, error) {
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

func (s *faultyFlags) Flip(ctx context.Context, r feature.Range, t feature.Indexed) (bool, error) {
	kind := s.faults.next("flip " + t.Name)
	if kind == throttled || kind == failed {
		return false, kind.err()
	}
	flipped, err := s.Toggles.Flip(ctx, r, t)
	if err == nil && (!s.faults.wrote() || kind == lost) {
		return false, lost.err()
	}
	return flipped, err
}

// overtakenFlags changes the first toggle that it reads, before it tells of it.
type overtakenFlags struct {
	staleness.Toggles
	change func(ctx context.Context, name string) error
	once   sync.Once
	err    error
}

func (s *overtakenFlags) Due(ctx context.Context, r feature.Range, after *feature.Indexed) (feature.Page, error) {
	page, err := s.Toggles.Due(ctx, r, after)
	if len(page.Toggles) > 0 {
		s.once.Do(func() { s.err = s.change(context.WithoutCancel(ctx), page.Toggles[0].Name) }) // the sweep's patience is not the writer's
	}
	return page, err
}

// faultyTypes are a run's own types.
type faultyTypes struct {
	aging  *aging
	faults *faults
}

func (s *faultyTypes) Get(ctx context.Context, id string) (featuretype.FeatureType, error) {
	if kind := s.faults.next("get " + id); kind != none && kind != late {
		return featuretype.FeatureType{}, kind.err()
	}
	return s.aging.g.FeatureTypes.Get(ctx, id)
}

func (s *faultyTypes) List(ctx context.Context) ([]featuretype.FeatureType, error) {
	if kind := s.faults.next("list"); kind != none && kind != late {
		return nil, kind.err()
	}
	all, err := s.aging.g.FeatureTypes.List(ctx)
	return s.aging.mine(all), err
}
