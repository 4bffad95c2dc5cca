package toggle

import (
	"cmp"
	"maps"
	"slices"
)

// SetEnvironment replaces the state of the toggle in an environment, and the context fields that its strategies use. It
// does not change the state of a copy of the toggle that was made before.
func (f *Feature) SetEnvironment(name string, e Environment) {
	other := f.OtherContextFields()
	environments := maps.Clone(f.Environments)
	if environments == nil {
		environments = map[string]Environment{}
	}
	environments[name] = e
	f.Environments = normalizedEnvironments(environments)
	f.ContextFields = slices.Compact(slices.Sorted(slices.Values(append(f.constrainedFields(), other...))))
}

// normalizedEnvironments returns environments as they are stored; nil: there are none.
func normalizedEnvironments(all map[string]Environment) map[string]Environment {
	var normalized map[string]Environment
	for name, e := range all {
		if !e.Enabled && len(e.Strategies) == 0 {
			continue
		}
		if normalized == nil {
			normalized = map[string]Environment{}
		}
		normalized[name] = e.normalized()
	}
	return normalized
}

// normalized returns the environment with its strategies in their order. Empty lists are not nil, so that their JSON
// form is [].
func (e Environment) normalized() Environment {
	strategies := make([]Strategy, len(e.Strategies))
	for i, s := range e.Strategies {
		strategies[i] = s.Normalized()
	}
	slices.SortFunc(strategies, func(a, b Strategy) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.ID, b.ID))
	})
	e.Strategies = strategies
	return e
}

// Normalized returns the strategy as it is stored: with sorted segments, and without lists that are nil.
func (s Strategy) Normalized() Strategy {
	s.Segments = append([]int64{}, slices.Compact(slices.Sorted(slices.Values(s.Segments)))...)
	s.Variants = append([]Variant{}, s.Variants...)
	s.Constraints = append([]Constraint{}, s.Constraints...)
	for i := range s.Constraints {
		if len(s.Constraints[i].Values) == 0 {
			s.Constraints[i].Values = nil
		}
	}
	if s.Parameters == nil {
		s.Parameters = map[string]string{}
	}
	return s
}

// HasEnabledStrategies reports whether a strategy is not disabled.
func (e Environment) HasEnabledStrategies() bool {
	return slices.ContainsFunc(e.Strategies, func(s Strategy) bool { return !s.Disabled })
}

// Strategy returns the index of a strategy, or -1.
func (e Environment) Strategy(id string) int {
	return slices.IndexFunc(e.Strategies, func(s Strategy) bool { return s.ID == id })
}

// VariantNames returns the names of the variants of all environments, sorted and without duplicates.
func (f Feature) VariantNames() []string {
	var names []string
	for _, e := range f.Environments {
		for _, s := range e.Strategies {
			for _, v := range s.Variants {
				names = append(names, v.Name)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// VariantCount returns the number of different variants.
func (e Environment) VariantCount() int {
	names := map[string]bool{}
	for _, s := range e.Strategies {
		for _, v := range s.Variants {
			names[v.Name] = true
		}
	}
	return len(names)
}

// EnabledEnvironments returns the names of the environments in which the toggle is on, sorted.
func (f Feature) EnabledEnvironments() []string {
	var names []string
	for name, e := range f.Environments {
		if e.Enabled {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TurnOffEverywhere turns the toggle off in all environments. Its strategies stay.
func (f *Feature) TurnOffEverywhere() {
	for _, name := range f.EnabledEnvironments() {
		e := f.Environments[name]
		e.Enabled = false
		f.SetEnvironment(name, e)
	}
}

// Segments returns the ids of the segments that the strategies of the toggle use, sorted and without duplicates.
func (f Feature) Segments() []int64 {
	var ids []int64
	for _, e := range f.Environments {
		for _, s := range e.Strategies {
			ids = append(ids, s.Segments...)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

// OtherContextFields returns the context fields of the toggle that its strategies do not use.
func (f Feature) OtherContextFields() []string {
	constrained := f.constrainedFields()
	return slices.DeleteFunc(slices.Clone(f.ContextFields), func(name string) bool {
		return slices.Contains(constrained, name)
	})
}

// constrainedFields returns the context fields that the strategies use, sorted and without duplicates.
func (f Feature) constrainedFields() []string {
	var names []string
	for _, e := range f.Environments {
		for _, s := range e.Strategies {
			names = append(names, s.ContextFields()...)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// ContextFields returns the context fields that the constraints and the stickiness of the strategy use, without those
// that every context has. They can repeat.
func (s Strategy) ContextFields() []string {
	var names []string
	for _, c := range s.Constraints {
		if !IsFixedField(c.ContextName) {
			names = append(names, c.ContextName)
		}
	}
	switch stickiness := s.Parameters[ParameterStickiness]; {
	case stickiness == "", stickiness == StickinessDefault, stickiness == StickinessRandom, IsFixedField(stickiness):
	default:
		names = append(names, stickiness)
	}
	return names
}
