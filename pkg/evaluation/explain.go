package evaluation

import (
	"slices"

	"toggleadmin/pkg/toggle"
)

// Explanation is the result of a toggle for a context, and why.
type Explanation struct {
	Result
	Known        bool // whether the document has the toggle
	SwitchedOn   bool
	Dependencies []DependencyExplanation
	Strategies   []StrategyExplanation // all of the toggle, in their order, whatever the switch and the dependencies say
	Decisive     int                   // the index of the first strategy that holds; -1: none
}

// DependencyExplanation says whether a dependency holds.
type DependencyExplanation struct {
	Dependency toggle.Dependency
	Holds      bool
}

// StrategyExplanation says whether a strategy holds: whether all its constraints, all its segments and the rule of its
// type hold.
type StrategyExplanation struct {
	Strategy    Strategy
	Holds       bool
	Constraints []ConstraintExplanation
	Segments    []SegmentExplanation
	Targets     bool                // whether all constraints and all segments hold
	RuleHolds   bool                // whether the context fulfills the type with its parameters
	Rollout     *RolloutExplanation // nil: the type has no rollout, or its percentage is malformed
	Variant     *toggle.Variant     // of the strategy for the context; nil: the strategy does not hold or has none
}

// ConstraintExplanation says whether a constraint holds.
type ConstraintExplanation struct {
	Constraint   toggle.Constraint
	Holds        bool
	ContextValue *string // the value of the field; nil: absent
}

// SegmentExplanation says whether a segment holds: whether all its constraints do.
type SegmentExplanation struct {
	ID          int64
	Known       bool   // whether the document has the segment; one that it does not have does not hold
	Name        string // empty if it is not known
	Holds       bool
	Constraints []ConstraintExplanation
}

// RolloutExplanation says what decided a rollout: it holds if Number is at most Percentage.
type RolloutExplanation struct {
	Percentage uint32
	Field      string // the field that Number is computed from; empty: Number is random
	Number     uint32 // of the context, from 1 to 100; 0: none, because the field is absent
}

// Explain evaluates a toggle as Evaluate does, and says why the result is what it is.
func (e *Engine) Explain(name string, ctx *Context) Explanation {
	feature := e.features[name]
	if feature == nil {
		return Explanation{Decisive: -1}
	}
	return feature.explain(ctx)
}

// ExplainStrategy says whether a strategy holds for a context. The strategy need not be one of the toggle, whose name is
// the default group.
func (e *Engine) ExplainStrategy(feature string, s *Strategy, ctx *Context) StrategyExplanation {
	compiled := compileStrategy(s, feature, e.segments)
	return compiled.explain(ctx)
}

func (f *feature) explain(ctx *Context) Explanation {
	explanation := Explanation{Known: true, SwitchedOn: f.source.Enabled, Decisive: -1}
	dependenciesHold := true
	for i := range f.parents {
		parent := &f.parents[i]
		holds := parent.holds(ctx)
		dependenciesHold = dependenciesHold && holds
		explanation.Dependencies = append(explanation.Dependencies, DependencyExplanation{*parent.source, holds})
	}
	for i := range f.strategies {
		strategy := f.strategies[i].explain(ctx)
		if strategy.Holds && explanation.Decisive < 0 {
			explanation.Decisive = i
		}
		explanation.Strategies = append(explanation.Strategies, strategy)
	}
	d := decision{}
	if f.source.Enabled && dependenciesHold {
		d = explanation.decision(f)
	}
	explanation.Result = Result{Enabled: d.enabled}
	if d.enabled {
		explanation.Variant = f.explainedVariant(explanation, ctx)
	}
	explanation.Reason = f.reason(d, explanation.Variant)
	return explanation
}

// decision returns what the strategies of an explanation decide about its toggle.
func (e Explanation) decision(f *feature) decision {
	if e.Decisive >= 0 {
		return decision{enabled: true, strategy: &f.strategies[e.Decisive]}
	}
	return decision{
		enabled: len(f.strategies) == 0,
		excluded: slices.ContainsFunc(e.Strategies, func(s StrategyExplanation) bool {
			return s.Targets && s.Rollout != nil
		}),
	}
}

// explainedVariant is variantOf for an explained strategy, whose variant has been chosen, at random in some cases.
func (f *feature) explainedVariant(e Explanation, ctx *Context) *toggle.Variant {
	if e.Decisive >= 0 && len(f.strategies[e.Decisive].variants.all) > 0 {
		return e.Strategies[e.Decisive].Variant
	}
	return f.variants.choose(ctx)
}

func (s *strategy) explain(ctx *Context) StrategyExplanation {
	constraints, hold := explainConstraints(s.constraints, ctx)
	explanation := StrategyExplanation{Strategy: *s.source, Constraints: constraints, Targets: hold}
	for i, segment := range s.segments {
		e := segment.explain(s.source.Segments[i], ctx)
		explanation.Targets = explanation.Targets && e.Holds
		explanation.Segments = append(explanation.Segments, e)
	}
	if rollout, ok := s.rule.(rollout); ok {
		explanation.Rollout = rollout.explain(ctx)
		explanation.RuleHolds = explanation.Rollout.holds()
	} else {
		explanation.RuleHolds = s.rule.holds(ctx)
	}
	explanation.Holds = explanation.Targets && explanation.RuleHolds
	if explanation.Holds {
		explanation.Variant = s.variants.choose(ctx)
	}
	return explanation
}

// explain explains the segment with the id. s is nil if the document does not have the segment.
func (s *segment) explain(id int64, ctx *Context) SegmentExplanation {
	if s == nil {
		return SegmentExplanation{ID: id}
	}
	constraints, hold := explainConstraints(s.constraints, ctx)
	return SegmentExplanation{id, true, s.source.Name, hold, constraints}
}

// explainConstraints also reports whether all constraints hold.
func explainConstraints(constraints []constraint, ctx *Context) ([]ConstraintExplanation, bool) {
	explanations := make([]ConstraintExplanation, len(constraints))
	allHold := true
	for i := range constraints {
		c := &constraints[i]
		explanation := ConstraintExplanation{Constraint: *c.source, Holds: c.holds(ctx)}
		if value, ok := ctx.field(c.source.ContextName); ok {
			explanation.ContextValue = &value
		}
		allHold = allHold && explanation.Holds
		explanations[i] = explanation
	}
	return explanations, allHold
}

func (r rollout) explain(ctx *Context) *RolloutExplanation {
	return &RolloutExplanation{r.percentage, stickyField(ctx, r.stickiness), r.number(ctx)}
}

func (r *RolloutExplanation) holds() bool {
	return r.Number != 0 && r.Number <= r.Percentage
}
