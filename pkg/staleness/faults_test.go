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

	"pgregory.net/rapid"

	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
)

// faultyToggles are toggles on the engine whose calls fail. Whether a call fails depends on the call and not on its turn, since calls come in
// any order.
type faultyToggles struct {
	staleness.Toggles
	seed    uint32
	percent uint32 // of the calls
	crash   func() // ends the process
	writes  int    // before the crash; negative: no crash

	mu      sync.Mutex
	crashed bool
	tries   map[string]int
}

// faulty also returns the context that a crash cancels.
func (m *model) faulty(t *rapid.T) (*faultyToggles, context.Context) {
	ctx, crash := context.WithCancel(t.Context())
	t.Cleanup(crash)
	return &faultyToggles{
		Toggles: m.flags, seed: rapid.Uint32().Draw(t, "seed"), percent: rapid.SampledFrom([]uint32{0, 0, 10, 60, 100}).Draw(t, "percent"),
		crash: crash, writes: rapid.SampledFrom([]int{-1, -1, -1, 0, 1, 2, 3}).Draw(t, "writes"), tries: map[string]int{},
	}, ctx
}

var errLost = errors.New("response lost")

// next returns the error of a call. errLost is the error after the call was carried out.
func (s *faultyToggles) next(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries[call]++
	h := fnv.New32a()
	fmt.Fprint(h, s.seed, call, s.tries[call])
	sum := h.Sum32()
	switch {
	case s.crashed:
		return errBroken
	case sum%100 >= s.percent || s.tries[call] > 20: // a call that is always throttled would never end
		return nil
	}
	return []error{throttled(), errBroken, errLost}[sum/100%3]
}

// wrote counts a write and reports whether the process still runs.
func (s *faultyToggles) wrote() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writes == 0 {
		s.crashed = true
		s.crash()
	}
	s.writes--
	return !s.crashed
}

func (s *faultyToggles) Due(ctx context.Context, r feature.Range, after *feature.Indexed) (feature.Page, error) {
	if err := s.next(fmt.Sprint("due ", r.Type, r.Shard, r.PotentiallyStale, after)); err != nil {
		return feature.Page{}, err
	}
	return s.Toggles.Due(ctx, r, after)
}

func (s *faultyToggles) Flip(
	ctx context.Context, r feature.Range, t feature.Indexed, now time.Time,
) (flipped bool, p feature.Pending, err error) {
	err = s.write("flip "+t.Name, func() (err error) {
		flipped, p, err = s.Toggles.Flip(ctx, r, t, now)
		return err
	})
	if err != nil {
		return false, feature.Pending{}, err
	}
	return flipped, p, nil
}

// write carries a write out, unless it fails before.
func (s *faultyToggles) write(name string, call func() error) error {
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

// ownTypes are the types of one check.
type ownTypes struct {
	*featuretype.Store
	prefix string
}

func (s ownTypes) List(ctx context.Context) ([]featuretype.FeatureType, error) {
	all, err := s.Store.List(ctx)
	return slices.DeleteFunc(all, func(t featuretype.FeatureType) bool { return !strings.HasPrefix(t.ID, s.prefix) }), err
}
