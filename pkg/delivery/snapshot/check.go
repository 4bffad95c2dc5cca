package snapshot

import (
	"errors"
	"fmt"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// Check returns an error if engines would disagree about a toggle, or if one of them would fail. The stores reject
// such toggles, so the toggle was written by other means, or one of its segments was deleted while toggles were read.
func Check(f evaluation.Feature, segments map[int64]toggle.Segment) error {
	if f.Enabled && len(f.Strategies) == 0 {
		return errors.New("it is on without a strategy")
	}
	for _, s := range f.Strategies {
		for _, id := range s.Segments {
			if _, ok := segments[id]; !ok {
				return fmt.Errorf("a strategy uses the segment %d, which does not exist", id)
			}
		}
		total := 0
		for _, v := range s.Variants {
			total += v.Weight
		}
		if len(s.Variants) > 0 && total != toggle.TotalWeight {
			return fmt.Errorf("the weights of the variants of a strategy add up to %d", total)
		}
	}
	return nil
}
