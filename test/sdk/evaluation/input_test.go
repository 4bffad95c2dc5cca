package evaluation_test

import (
	"encoding/json"
	"slices"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// input is what the result of a toggle depends on.
type input struct {
	fields   sdkContext
	feature  *evaluation.Feature
	parent   result
	features []evaluation.Feature // the toggle and its parents
	segments []toggle.Segment
	broken   bool // yggdrasil cannot compile one of the features
}

func newInput(state evaluation.Document, feature int, fields sdkContext, broken []string) *input {
	i := &input{fields: fields, feature: &state.Features[feature], segments: state.Segments}
	for _, feature := range state.Features {
		isParent := func(d toggle.Dependency) bool { return d.Feature == feature.Name }
		if feature.Name == i.feature.Name || slices.ContainsFunc(i.feature.Dependencies, isParent) {
			i.features = append(i.features, feature)
			i.broken = i.broken || slices.Contains(broken, feature.Name)
		}
	}
	return i
}

// strategies returns those of the toggle and its parents.
func (i *input) strategies() []evaluation.Strategy {
	var strategies []evaluation.Strategy
	for _, feature := range i.features {
		strategies = append(strategies, feature.Strategies...)
	}
	return strategies
}

func (i *input) anyStrategy(has func(evaluation.Strategy) bool) bool {
	return slices.ContainsFunc(i.strategies(), has)
}

// anyConstraint reports whether a constraint of the strategies or of their segments has a property.
func (i *input) anyConstraint(has func(constraint) bool) bool {
	var constraints []toggle.Constraint
	for _, strategy := range i.strategies() {
		constraints = append(constraints, strategy.Constraints...)
		for _, segment := range i.segments {
			if slices.Contains(strategy.Segments, segment.ID) {
				constraints = append(constraints, segment.Constraints...)
			}
		}
	}
	return slices.ContainsFunc(constraints, func(c toggle.Constraint) bool {
		value, present := i.fields[c.ContextName]
		return has(constraint{c, value, present})
	})
}

// anyID reports whether a rollout or a variant can depend on an id with a property.
func (i *input) anyID(has func(id string) bool) bool {
	fields := []string{toggle.FieldUserID, toggle.FieldSessionID}
	for _, strategy := range i.strategies() {
		fields = append(fields, strategy.Parameters[toggle.ParameterStickiness])
	}
	for _, feature := range i.features {
		for _, variant := range feature.Variants {
			fields = append(fields, variant.Stickiness)
		}
	}
	return slices.ContainsFunc(fields, func(field string) bool {
		id, present := i.fields[field]
		return present && has(id)
	})
}

// String returns the input as JSON.
func (i *input) String() string {
	state := evaluation.Document{Features: i.features, Segments: i.segments}
	document, err := json.MarshalIndent(map[string]any{"state": state, "context": i.fields}, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(document)
}
