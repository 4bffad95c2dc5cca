package evaluation

import "toggleadmin/pkg/toggle"

// State is what toggles are evaluated by in one environment. Its JSON form is that of Unleash's client API
// (GET /api/client/features); other properties of that form are ignored.
type State struct {
	Features []Feature        `json:"features"`
	Segments []toggle.Segment `json:"segments"`
}

// NewState returns the state of toggles in an environment. Archived toggles are not in it.
func NewState(environment string, features []toggle.Feature, segments []toggle.Segment) State {
	state := State{Segments: segments}
	for _, f := range features {
		if f.Archived {
			continue
		}
		in := f.Environments[environment]
		feature := Feature{
			Name:           f.Name,
			Enabled:        in.Enabled,
			ImpressionData: f.ImpressionData,
			Strategies:     in.Strategies,
		}
		if f.Dependency != nil {
			feature.Dependencies = []toggle.Dependency{*f.Dependency}
		}
		state.Features = append(state.Features, feature)
	}
	return state
}

// Feature is the state of a toggle in the environment.
type Feature struct {
	Name           string              `json:"name"`
	Enabled        bool                `json:"enabled"` // the switch
	ImpressionData bool                `json:"impressionData"`
	Strategies     []toggle.Strategy   `json:"strategies"` // in the order in which they are evaluated
	Variants       []FeatureVariant    `json:"variants"`   // if the strategy that holds has no variants
	Dependencies   []toggle.Dependency `json:"dependencies"`
}

// FeatureVariant is a variant of a toggle in all of its strategies. Old versions of Unleash have such variants.
type FeatureVariant struct {
	toggle.Variant
	Overrides []Override `json:"overrides"`
}

// Override gives a variant to the contexts in which a field has one of the values.
type Override struct {
	ContextName string   `json:"contextName"`
	Values      []string `json:"values"`
}
