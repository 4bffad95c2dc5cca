package seed

import (
	"context"
	"time"

	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// The environments of a new installation.
const (
	development = "development"
	production  = "production"
)

const betaSegment = "Beta customers"

// activations turn three toggles on: one for everybody in development, one for a segment and then for a growing part of
// the users, one with variants.
func (h *history) activations() []change {
	const rollout = toggle.StrategyFlexibleRollout
	beta := func(s *toggle.Strategy) {
		s.Title, s.Segments = new("Beta customers first"), []int64{1} // the only segment
	}
	web := func(s *toggle.Strategy) {
		s.Parameters[toggle.ParameterRollout], s.Parameters[toggle.ParameterStickiness] = "10", toggle.FieldUserID
		s.Constraints = []toggle.Constraint{
			{ContextName: toggle.FieldAppName, Operator: toggle.OperatorIn, Values: []string{"web"}},
		}
		s.Variants = halves(toggle.FieldUserID, "blue", "green")
	}
	compared := func(s *toggle.Strategy) {
		s.Parameters[toggle.ParameterRollout], s.Parameters[toggle.ParameterStickiness] = "50", toggle.FieldSessionID
		s.Variants = halves(toggle.FieldSessionID, "by-date", "by-score")
	}
	return []change{
		{45, editor, h.addStrategy("new-checkout", development, 0, rollout, func(*toggle.Strategy) {})},
		{25, editor, h.addStrategy("search-ranking", production, 0, rollout, compared)},
		{22, admin, h.createSegment},
		{21, editor, h.addStrategy("new-checkout", production, 0, toggle.StrategyDefault, beta)},
		{14, editor, h.addStrategy("new-checkout", production, 1, rollout, web)},
		{2, editor, h.addStrategy("dark-mode", development, 0, rollout, func(*toggle.Strategy) {})},
		{0, admin, h.update("new-checkout", func(f *toggle.Feature) {
			e := f.Environments[production]
			s := e.Strategies[1]
			s.Parameters = toggle.DefaultParameters(rollout, f.Name)
			s.Parameters[toggle.ParameterRollout], s.Parameters[toggle.ParameterStickiness] = "25", toggle.FieldUserID
			e.Strategies = []toggle.Strategy{e.Strategies[0], s}
			f.SetEnvironment(production, e)
		})},
	}
}

// halves returns two variants that each get half of the users.
func halves(stickiness string, names ...string) (all []toggle.Variant) {
	for _, name := range names {
		all = append(all, toggle.Variant{
			Name: name, Weight: toggle.TotalWeight / len(names), WeightType: toggle.WeightVariable, Stickiness: stickiness,
		})
	}
	return all
}

// addStrategy adds a strategy to a toggle in an environment that has others already, and turns the toggle on there. An
// environment with more strategies has it from an earlier call.
func (h *history) addStrategy(
	name, environment string, others int, kind string, edit func(*toggle.Strategy),
) func(context.Context) error {
	return h.update(name, func(f *toggle.Feature) {
		e := f.Environments[environment]
		if len(e.Strategies) > others {
			return
		}
		s := toggle.Strategy{
			ID:         toggle.NewStrategyIDs(func() time.Time { return h.at }, h.Random)(),
			Name:       kind,
			SortOrder:  int32(others), //nolint:gosec // 0 or 1
			Parameters: toggle.DefaultParameters(kind, name),
		}
		edit(&s)
		e.Enabled, e.Strategies = true, append(e.Strategies, s)
		f.SetEnvironment(environment, e)
	})
}

func (h *history) createSegment(ctx context.Context) error {
	_, err := h.stores.segments.Create(ctx, segment.Segment{Segment: segmenttable.Segment{
		Segment: toggle.Segment{
			Name: betaSegment,
			Constraints: []toggle.Constraint{
				{ContextName: toggle.FieldUserID, Operator: toggle.OperatorIn, Values: []string{"7", "19", "42"}},
			},
		},
		Description: new("Customers who try new features first."),
		CreatedAt:   h.at,
	}})
	if apierror.KindOf(err) != apierror.NameExists {
		return err
	}
	return nil
}
