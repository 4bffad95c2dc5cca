// Package playground evaluates toggles for a context that a user enters, and says why each toggle is on or off.
package playground

import (
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// Fields are the fields of a context by name.
type Fields map[string]string

// Context returns the context with the fields at a time. An empty text is absent, as in the frontend API. random is read
// once; it decides what is random in evaluations.
func (f Fields) Context(now time.Time, random io.Reader) (*evaluation.Context, error) {
	var seed [32]byte
	if _, err := io.ReadFull(random, seed[:]); err != nil {
		return nil, err
	}
	present := maps.Clone(f)
	maps.DeleteFunc(present, func(_, value string) bool { return value == "" })
	return &evaluation.Context{
		Fields: present,
		Now:    now,
		Random: rand.New(rand.NewChaCha8(seed)).Uint32N, //nolint:gosec // not a secret
	}, nil
}

// Result is the result of a toggle in an environment: advancedPlaygroundEnvironmentFeatureSchema in api/openapi.yaml.
type Result struct {
	Name                          string           `json:"name"`
	Environment                   string           `json:"environment"`
	ProjectID                     string           `json:"projectId"`
	Context                       Fields           `json:"context"`
	IsEnabled                     bool             `json:"isEnabled"`
	IsEnabledInCurrentEnvironment bool             `json:"isEnabledInCurrentEnvironment"` // the switch
	HasUnsatisfiedDependency      bool             `json:"hasUnsatisfiedDependency"`
	Variant                       featureVariant   `json:"variant"`
	Variants                      []toggle.Variant `json:"variants"` // of the strategy that decides
	Strategies                    strategies       `json:"strategies"`
	Sample                        *sample          `json:"sample,omitempty"` // nil: it was not asked for
}

type strategies struct {
	Result verdict    `json:"result"`
	Data   []strategy `json:"data"`
}

// verdict is true, false or unknown.
type verdict any

// unknown is the verdict on a strategy that depends on the host on which an application runs, or on a segment that the
// caller does not see.
const unknown = "unknown"

type strategy struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Title       *string           `json:"title"`
	Disabled    bool              `json:"disabled"`
	Parameters  map[string]string `json:"parameters"`
	Result      strategyResult    `json:"result"`
	Constraints []constraint      `json:"constraints"`
	Segments    []segment         `json:"segments"`
}

type strategyResult struct {
	Enabled          verdict  `json:"enabled"`
	EvaluationStatus status   `json:"evaluationStatus"`
	Variant          *variant `json:"variant,omitempty"`
	Rollout          *uint32  `json:"rollout,omitempty"` // the percentage
	Number           *uint32  `json:"number,omitempty"`  // of the context, from 1 to 100; nil: the field is absent
}

// status says whether a strategy was evaluated.
type status string

const (
	complete    status = "complete"
	incomplete  status = "incomplete"  // a part of it is unknown; its constraints and the other segments were evaluated
	unevaluated status = "unevaluated" // it is disabled
)

type variant struct {
	Name    string          `json:"name"`
	Enabled bool            `json:"enabled"`
	Payload *toggle.Payload `json:"payload,omitempty"`
}

// featureVariant is a variant as SDKs return it.
type featureVariant struct {
	variant

	FeatureEnabled bool `json:"feature_enabled"`
}

type constraint struct {
	toggle.Constraint

	Result       bool    `json:"result"`
	ContextValue *string `json:"contextValue"` // nil: the field is absent
}

type segment struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Result      bool         `json:"result"`
	Constraints []constraint `json:"constraints"`
}

// NewResult returns the result of a toggle with these fields in an environment.
func NewResult(f toggle.Feature, environment string, fields Fields, e Explanation) Result {
	result := Result{
		Name:                          f.Name,
		Environment:                   environment,
		ProjectID:                     f.Project,
		Context:                       fields,
		IsEnabled:                     e.Enabled,
		IsEnabledInCurrentEnvironment: e.SwitchedOn,
		Variant:                       featureVariant{variant{Name: "disabled"}, e.Enabled},
		Variants:                      []toggle.Variant{},
		Strategies:                    newStrategies(e),
	}
	for _, d := range e.Dependencies {
		result.HasUnsatisfiedDependency = result.HasUnsatisfiedDependency || !d.Holds
	}
	if v := newVariant(e.Variant); v != nil {
		result.Variant.variant = *v
	}
	if e.Decisive >= 0 {
		result.Variants = append(result.Variants, e.Strategies[e.Decisive].Strategy.Variants...)
	}
	return result
}

func newVariant(v *toggle.Variant) *variant {
	if v == nil {
		return nil
	}
	return &variant{Name: v.Name, Enabled: true, Payload: v.Payload}
}

// newStrategies returns the strategies and their common result, which does not depend on the switch.
func newStrategies(e Explanation) strategies {
	all := strategies{Result: e.Decisive >= 0, Data: []strategy{}}
	for _, s := range e.All {
		data := newStrategy(s)
		all.Data = append(all.Data, data)
		if data.Result.Enabled == unknown && e.Decisive < 0 {
			all.Result = unknown
		}
	}
	return all
}

func newStrategy(e StrategyExplanation) strategy {
	s := strategy{
		ID:          e.Stored.ID,
		Name:        e.Stored.Name,
		Title:       e.Stored.Title,
		Disabled:    e.Stored.Disabled,
		Parameters:  e.Stored.Parameters,
		Result:      strategyResult{Enabled: e.Holds, EvaluationStatus: complete, Variant: newVariant(e.Variant)},
		Constraints: newConstraints(e.Constraints),
		Segments:    []segment{},
	}
	for _, g := range e.Segments {
		s.Segments = append(s.Segments, segment{g.ID, g.Name, g.Holds, newConstraints(g.Constraints)})
	}
	if r := e.Rollout; r != nil {
		s.Result.Rollout = &r.Percentage
		if r.Number != 0 {
			s.Result.Number = &r.Number
		}
	}
	switch {
	case e.Stored.Disabled:
		s.Result.EvaluationStatus = unevaluated
	case isIncomplete(e):
		s.Result.EvaluationStatus = incomplete
		if mayHold(e) {
			s.Result.Enabled = unknown
		}
	}
	return s
}

// isIncomplete reports whether a part of a strategy cannot be evaluated.
func isIncomplete(e StrategyExplanation) bool {
	return e.Stored.Name == toggle.StrategyApplicationHostname ||
		slices.ContainsFunc(e.Segments, func(s evaluation.SegmentExplanation) bool { return !s.Known })
}

// mayHold reports whether all parts of a strategy that can be evaluated hold.
func mayHold(e StrategyExplanation) bool {
	return !slices.ContainsFunc(e.Constraints, func(c evaluation.ConstraintExplanation) bool { return !c.Holds }) &&
		!slices.ContainsFunc(e.Segments, func(s evaluation.SegmentExplanation) bool { return s.Known && !s.Holds }) &&
		(e.RuleHolds || e.Stored.Name == toggle.StrategyApplicationHostname)
}

func newConstraints(explanations []evaluation.ConstraintExplanation) []constraint {
	all := make([]constraint, len(explanations))
	for i, e := range explanations {
		if len(e.Constraint.Values) == 0 {
			e.Constraint.Values = nil // no list in the response
		}
		all[i] = constraint{e.Constraint, e.Holds, e.ContextValue}
	}
	return all
}
