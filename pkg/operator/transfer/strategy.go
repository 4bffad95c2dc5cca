package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/toggle"
)

// preparation prepares the states of a toggle in environments. A strategy that the service cannot evaluate as the
// source does is left out, so that the toggle is rather off than on.
type preparation struct {
	resources
	remarks

	feature string
	old     map[string]toggle.Environment // that are stored
	ids     map[string]bool               // of strategies
	leftOut map[string]bool               // the environments in which an enabled strategy is left out

	usedFields   map[string]bool
	usedSegments map[int64]bool
}

// keep takes the states that do not change into account.
func (p *preparation) keep(states map[string]toggle.Environment) {
	p.ids, p.usedFields, p.usedSegments = map[string]bool{}, map[string]bool{}, map[int64]bool{}
	for _, e := range states {
		for _, s := range e.Strategies {
			p.ids[s.ID] = true
			p.use(s)
		}
	}
}

func (p *preparation) use(s toggle.Strategy) {
	for _, name := range s.ContextFields() {
		p.usedFields[name] = true
	}
	for _, id := range s.Segments {
		p.usedSegments[id] = true
	}
}

// environment returns the state in an environment as it will be stored.
func (p *preparation) environment(name string, e toggle.Environment) toggle.Environment {
	next := toggle.Environment{Enabled: e.Enabled}
	for n, s := range e.Strategies {
		prepared, err := p.strategy(s)
		if err == nil && len(next.Strategies) == toggle.MaxStrategies {
			err = fmt.Errorf("the maximum is %d strategies", toggle.MaxStrategies)
		}
		if err == nil {
			err = p.checkUsage(prepared)
		}
		if err != nil {
			p.leftOut[name] = p.leftOut[name] || !s.Disabled
			p.lose("its strategy %d in %s (%.100s) was not imported: %v", n+1, name, s.Name, err)
			continue
		}
		p.use(prepared)
		next.Strategies = append(next.Strategies, prepared)
	}
	switch {
	case !next.Enabled || next.HasEnabledStrategies():
	case e.HasEnabledStrategies():
		next.Enabled = false
		p.lose("it was turned off in %s, because none of its enabled strategies was imported", name)
	default: // SDKs evaluate it as on for everybody
		p.note("it is on in %s without an enabled strategy: one that holds for everybody was added", name)
		everybody := toggle.Strategy{Name: toggle.StrategyFlexibleRollout, Parameters: parametersOf(
			toggle.StrategyFlexibleRollout, p.feature)}
		for _, s := range next.Strategies {
			everybody.SortOrder = max(everybody.SortOrder, s.SortOrder)
		}
		next.Strategies = append(next.Strategies, everybody)
	}
	p.identify(name, next.Strategies)
	next.Strategies = ordered(next.Strategies)
	return next
}

// identify sets the ids of strategies that have none, or one that cannot be used in a path, or that of another strategy.
// They become those of the strategies that are stored at the same positions, or otherwise new ones. An import that is
// repeated finds the same ids.
func (p *preparation) identify(environment string, strategies []toggle.Strategy) {
	for i := range strategies {
		s := &strategies[i]
		switch {
		case p.isNewID(s.ID):
			p.ids[s.ID] = true
			continue
		case p.ids[s.ID]:
			p.note("the id %s of a strategy in %s was replaced: another strategy has it", s.ID, environment)
		case s.ID != "":
			p.note("the id %.100q of a strategy in %s was replaced: it cannot be used in a path", s.ID, environment)
		}
		s.ID = ""
	}
	stored := p.old[environment].Strategies
	for i := range strategies {
		s := &strategies[i]
		if s.ID != "" {
			continue
		}
		if i < len(stored) && p.isNewID(stored[i].ID) {
			s.ID = stored[i].ID
		} else {
			s.ID = p.newID()
		}
		p.ids[s.ID] = true
	}
}

func (p *preparation) isNewID(id string) bool { return toggle.IsStrategyID(id) && !p.ids[id] }

// ordered returns strategies in the order of their sort order. If equal ones would get another order by their ids, all
// get a new sort order.
func ordered(strategies []toggle.Strategy) []toggle.Strategy {
	bySortOrder := func(a, b toggle.Strategy) int { return cmp.Compare(a.SortOrder, b.SortOrder) }
	slices.SortStableFunc(strategies, bySortOrder)
	byID := func(a, b toggle.Strategy) int { return cmp.Or(bySortOrder(a, b), cmp.Compare(a.ID, b.ID)) }
	if !slices.IsSortedFunc(strategies, byID) {
		for i := range strategies {
			strategies[i].SortOrder = int32(i)
		}
	}
	return strategies
}

// strategy returns a strategy as it will be stored, or why it cannot be.
func (p *preparation) strategy(s toggle.Strategy) (toggle.Strategy, error) {
	var err error
	if s.Parameters, err = p.parameters(s); err != nil {
		return s, err
	}
	if len(s.Constraints) > toggle.MaxConstraints {
		return s, fmt.Errorf("it has %d constraints, the maximum is %d", len(s.Constraints), toggle.MaxConstraints)
	}
	if s.Constraints, err = prepareConstraints(s.Constraints, p.fields); err != nil {
		return s, err
	}
	if s.Variants, err = p.variants(s); err != nil {
		return s, err
	}
	if s.Segments, err = p.segmentsOf(s); err != nil {
		return s, err
	}
	s.Title = p.title(s.Title)
	return s, nil
}

// title returns the title of a strategy as it will be stored. A title does not influence the evaluation, so that the
// strategy is imported without one that is not valid.
func (p *preparation) title(title *string) *string {
	if title == nil || *title == "" {
		return nil
	}
	if !toggle.IsReadable(*title) {
		p.note("the title %.100q of a strategy was not imported: it must have a visible character and no control characters",
			*title)
		return nil
	}
	p.cutOptional(&title, "the title of a strategy", toggle.MaxTitle)
	return title
}

// segmentsOf returns the ids that the segments of a strategy have here.
func (p *preparation) segmentsOf(s toggle.Strategy) ([]int64, error) {
	var ids []int64
	for _, id := range s.Segments {
		here, exists := p.segments[id]
		if !exists {
			return nil, fmt.Errorf("it uses the segment %d, which was not imported", id)
		}
		ids = append(ids, here.ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > toggle.MaxStrategySegments {
		return nil, fmt.Errorf("it uses %d segments, the maximum is %d", len(ids), toggle.MaxStrategySegments)
	}
	return ids, nil
}

// checkUsage returns an error if with a strategy, the toggle would use more context fields or segments than it can.
func (p *preparation) checkUsage(s toggle.Strategy) error {
	fields, segments := maps.Clone(p.usedFields), maps.Clone(p.usedSegments)
	for _, name := range s.ContextFields() {
		fields[name] = true
	}
	for _, id := range s.Segments {
		segments[id] = true
	}
	if len(fields) > toggle.MaxContextFields {
		return fmt.Errorf("the toggle would use more than %d context fields", toggle.MaxContextFields)
	}
	if len(segments) > toggle.MaxSegments {
		return fmt.Errorf("the toggle would use more than %d segments", toggle.MaxSegments)
	}
	return nil
}
