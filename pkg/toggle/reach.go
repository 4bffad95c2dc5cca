package toggle

import "strconv"

// Reach says for how many contexts the strategies of a toggle in an environment hold, whether or not the switch is on.
type Reach struct {
	Strategies int  // that are not disabled
	Percentage *int // of all contexts; nil: constraints, segments, missing fields or several strategies decide
}

// Reach returns the reach of the strategies.
func (e Environment) Reach() Reach {
	var r Reach
	for _, s := range e.Strategies {
		if s.Disabled {
			continue
		}
		r.Strategies++
		if r.Percentage == nil || *r.Percentage < 100 {
			r.Percentage = s.percentage()
		}
	}
	if r.Strategies > 1 && r.Percentage != nil && *r.Percentage < 100 {
		r.Percentage = nil
	}
	return r
}

// percentage returns of how many of 100 contexts the strategy holds, or nil if it is not a rollout alone that decides.
func (s Strategy) percentage() *int {
	if s.isForAll() {
		return new(100)
	}
	if len(s.Constraints) > 0 || len(s.Segments) > 0 {
		return nil
	}
	text, ok := s.Parameters[ParameterRollout]
	if !ok {
		text = s.Parameters[ParameterPercentage]
	}
	n, err := strconv.Atoi(text)
	if err != nil || n >= 100 {
		return nil
	}
	return &n
}
