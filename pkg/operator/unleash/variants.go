package unleash

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// In Unleash, a strategy without variants has those of its toggle, and an override gives one of the variants to some
// users. Here, only strategies have variants, and they have no overrides. The functions of this file divide a strategy
// into those that together give each user the same variant.

const (
	everybody = "100" // the rollout of a strategy that holds for everybody
	nobody    = "0"
)

// setEnvironment sets the state of the toggle in an environment. variants are those of the toggle. If its variants
// cannot be kept, the toggle is off.
func (t *element) setEnvironment(name string, enabled bool, strategies []strategy, variants []variant) {
	if t.Environments == nil {
		t.Environments = map[string]toggle.Environment{}
	}
	plain, own := t.forms(strategies, variants)
	divided, used, err := t.divide(plain, own, variants)
	if len(divided) > toggle.MaxStrategies && len(divided) > len(strategies) {
		err = fmt.Errorf("they need %d strategies, the maximum is %d", len(divided), toggle.MaxStrategies)
	}
	state := toggle.Environment{Enabled: enabled, Strategies: divided}
	if err != nil {
		state.Strategies = plain
	}
	t.Environments[name] = state
	switch {
	case err != nil:
		t.lose("its variants in %s were not imported: %v", name, err)
		t.turnOff(name)
	case used:
		t.note("its variants in %s were put into its strategies", name)
	case len(variants) > 0:
		t.note("its variants in %s were not imported: all strategies have variants of their own", name)
	}
}

// forms returns strategies in the form of a document, in the order in which they are evaluated, and the variants of each.
// If a toggle with variants has no enabled strategy, which SDKs evaluate as on for everybody, the last one says so.
func (t *element) forms(strategies []strategy, variants []variant) (forms []toggle.Strategy, own [][]variant) {
	order := make([]int, len(strategies))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(strategies[a].form(a).SortOrder, strategies[b].form(b).SortOrder)
	})
	for _, i := range order {
		forms, own = append(forms, strategies[i].form(i)), append(own, strategies[i].Variants)
	}
	if len(variants) == 0 || (toggle.Environment{Strategies: forms}).HasEnabledStrategies() {
		return forms, own
	}
	last := toggle.Strategy{Name: toggle.StrategyDefault}
	for _, s := range forms {
		last.SortOrder = max(last.SortOrder, s.SortOrder)
	}
	return append(forms, last), append(own, nil)
}

// divide returns the strategies with their variants, or those of the toggle if they have none of their own. used reports
// whether some have those.
func (t *element) divide(
	forms []toggle.Strategy, own [][]variant, variants []variant,
) (all []toggle.Strategy, used bool, err error) {
	changed := false
	for i, form := range forms {
		chosen, group := own[i], t.Name
		if ofStrategy, ok := form.Parameters[toggle.ParameterGroupID]; ok && len(chosen) > 0 {
			group = ofStrategy
		}
		if len(chosen) == 0 {
			chosen, used = variants, used || len(variants) > 0
		}
		if len(chosen) == 0 {
			all = append(all, form)
			continue
		}
		parts, failure := t.parts(form, chosen, group)
		switch {
		case failure == nil:
		case len(form.Variants) > 0: // the import leaves the strategy out, and says why
			parts = []toggle.Strategy{form}
		default:
			err = errors.Join(err, fmt.Errorf("strategy %d (%.100s): %w", i+1, form.Name, failure))
		}
		changed = changed || len(parts) != 1
		all = append(all, parts...)
	}
	if changed {
		for i := range all {
			all[i].SortOrder = int32(i)
		}
	}
	if err != nil { // in one line
		err = errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return all, used, err
}

// rollout is the rule of a strategy, as that of a flexibleRollout.
type rollout struct {
	percentage, stickiness, group string
	constraints                   []toggle.Constraint // in addition to those of the strategy
}

// rolloutOf returns the rule of a strategy. The second value is false if a flexibleRollout cannot express it.
func (t *element) rolloutOf(s toggle.Strategy) (rollout, bool) {
	value := func(name, missing string) string {
		if v, ok := s.Parameters[name]; ok {
			return v
		}
		return missing
	}
	old := func(stickiness string) (rollout, bool) {
		percentage := value(toggle.ParameterPercentage, "")
		return rollout{percentage, stickiness, value(toggle.ParameterGroupID, ""), nil}, percentage != ""
	}
	switch s.Name {
	case toggle.StrategyDefault:
		return rollout{everybody, toggle.StickinessDefault, t.Name, nil}, true
	case toggle.StrategyFlexibleRollout:
		r := rollout{
			percentage: value(toggle.ParameterRollout, ""),
			stickiness: value(toggle.ParameterStickiness, toggle.StickinessDefault),
			group:      value(toggle.ParameterGroupID, t.Name),
		}
		return r, r.percentage != ""
	case toggle.StrategyGradualRolloutUserID:
		return old(toggle.FieldUserID)
	case toggle.StrategyGradualRolloutSessionID:
		return old(toggle.FieldSessionID)
	case toggle.StrategyGradualRolloutRandom:
		return old(toggle.StickinessRandom)
	case toggle.StrategyUserWithID:
		users := toggle.Constraint{
			ContextName: toggle.FieldUserID, Operator: toggle.OperatorIn,
			Values: evaluation.Entries(s.Parameters[toggle.ParameterUserIDs]),
		}
		return rollout{everybody, toggle.StickinessDefault, t.Name, []toggle.Constraint{users}}, len(users.Values) > 0
	}
	return rollout{}, false
}

// parts returns the strategies that together give each user the variant that a strategy with variants gives. group is
// that of the hashes of the variants.
func (t *element) parts(s toggle.Strategy, variants []variant, group string) ([]toggle.Strategy, error) {
	r, ok := t.rolloutOf(s)
	if !ok {
		return nil, errors.New("its type or its parameters permit no variants")
	}
	var overrides []toggle.Strategy
	for _, v := range variants {
		for _, o := range v.Overrides {
			values := evaluation.Entries(strings.Join(o.Values, ","))
			if len(values) == 0 {
				continue
			}
			only := v
			only.Weight, only.WeightType = toggle.TotalWeight, toggle.WeightVariable
			overridden := r.strategy(s, []variant{only})
			overridden.Constraints = append(overridden.Constraints, toggle.Constraint{
				ContextName: o.ContextName, Operator: toggle.OperatorIn, Values: values,
			})
			overrides = append(overrides, overridden)
		}
	}
	rest, err := r.sticking(cmp.Or(variants[0].Stickiness, toggle.StickinessDefault), group)
	if err != nil {
		return nil, err
	}
	all := overrides
	for _, r := range rest {
		all = append(all, r.strategy(s, variants))
	}
	identify(all, s.ID, len(overrides))
	return all, nil
}

// sticking returns rules that hold for the same users, and give variants by a stickiness and a group.
func (r rollout) sticking(stickiness, group string) ([]rollout, error) {
	anyGroup := r.percentage == everybody || r.percentage == nobody
	if r.group != group && !anyGroup && stickiness != toggle.StickinessRandom {
		return nil, fmt.Errorf("its groupId %.100q is not that of the variants, %.100q", r.group, group)
	}
	always := r.percentage == everybody &&
		(r.stickiness == toggle.StickinessDefault || r.stickiness == toggle.StickinessRandom)
	isField := stickiness != toggle.StickinessDefault && stickiness != toggle.StickinessRandom
	if anyGroup {
		r.group = group
	}
	sticky := r
	sticky.stickiness = stickiness
	switch {
	case r.stickiness == stickiness, r.percentage == nobody, always && !isField:
		return []rollout{sticky}, nil
	case r.stickiness == toggle.FieldUserID && stickiness == toggle.StickinessDefault:
		return []rollout{r}, nil // it holds only for users with a userId, by which default gives variants
	case always: // the second one is for those without the field, who get a variant at random
		r.stickiness = toggle.StickinessRandom
		return []rollout{sticky, r}, nil
	}
	return nil, fmt.Errorf("its stickiness %.100q is not that of the variants, %.100q", r.stickiness, stickiness)
}

// strategy returns a strategy with the rule and variants.
func (r rollout) strategy(s toggle.Strategy, variants []variant) toggle.Strategy {
	s.Name = toggle.StrategyFlexibleRollout
	s.Parameters = maps.Clone(s.Parameters)
	if s.Parameters == nil {
		s.Parameters = map[string]string{}
	}
	s.Parameters[toggle.ParameterRollout] = r.percentage
	s.Parameters[toggle.ParameterStickiness] = r.stickiness
	s.Parameters[toggle.ParameterGroupID] = r.group
	s.Constraints = slices.Concat(s.Constraints, r.constraints)
	s.Variants = nil
	for _, v := range variants {
		v.Stickiness = r.stickiness
		v.WeightType = cmp.Or(v.WeightType, toggle.WeightVariable)
		s.Variants = append(s.Variants, v.Variant)
	}
	return s
}

// identify sets the ids of the parts of a strategy. The part at an index has its id, so that another import finds the
// same ids.
func identify(parts []toggle.Strategy, id string, index int) {
	n := 0
	for i := range parts {
		if i == index || id == "" {
			parts[i].ID = id
			continue
		}
		n++
		parts[i].ID = fmt.Sprintf("%s-%d", id, n)
	}
}
