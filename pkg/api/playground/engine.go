package playground

import (
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// Engine evaluates the toggles of an environment by the document that applications get. It is safe for concurrent use.
type Engine struct {
	environment string
	engine      *evaluation.Engine
}

// Explanation says why a toggle is on or off.
type Explanation struct {
	evaluation.Explanation // its Strategies are those that applications get

	All []StrategyExplanation // of all strategies of the toggle, also of the disabled ones, which applications do not get
}

// StrategyExplanation says whether a strategy of a toggle holds. A disabled one does not hold.
type StrategyExplanation struct {
	evaluation.StrategyExplanation

	Stored toggle.Strategy
}

// NewEngine returns the Engine of an environment.
func NewEngine(environment string, features []toggle.Feature, segments []toggle.Segment) Engine {
	document := evaluation.Document(snapshot.Build(environment, features, segments))
	document.Segments = segments // also those that only disabled strategies use
	return Engine{environment, evaluation.New(document)}
}

// Explain evaluates a toggle for a context, and says why the result is what it is. An archived toggle is not known.
func (e Engine) Explain(f toggle.Feature, ctx *evaluation.Context) Explanation {
	explanation := Explanation{Explanation: e.engine.Explain(f.Name, ctx)}
	if !explanation.Known {
		return explanation
	}
	in := f.Environments[e.environment]
	explanation.SwitchedOn = in.Enabled // the document has it off if its parent has none of the variants that it demands
	delivered := explanation.Strategies
	for _, s := range in.Strategies {
		if s.Disabled {
			explanation.All = append(explanation.All, e.ExplainStrategy(f.Name, s, ctx))
			continue
		}
		explanation.All = append(explanation.All, StrategyExplanation{delivered[0], s})
		delivered = delivered[1:]
	}
	return explanation
}

// ExplainStrategy says whether a strategy holds for a context. It need not be one of the toggle.
func (e Engine) ExplainStrategy(feature string, s toggle.Strategy, ctx *evaluation.Context) StrategyExplanation {
	form := snapshot.NewStrategy(s)
	explanation := e.engine.ExplainStrategy(feature, &form, ctx)
	if s.Disabled {
		explanation.Holds, explanation.Variant = false, nil
	}
	return StrategyExplanation{explanation, s}
}
