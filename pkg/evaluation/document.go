package evaluation

import "toggleadmin/pkg/toggle"

// Document is what applications get of the toggles of one environment: what they are evaluated by, and what describes them.
// Its JSON form is that of Unleash's client API (GET /api/client/features); other properties of that form are ignored.
type Document struct {
	Features []Feature        `json:"features"`
	Segments []toggle.Segment `json:"segments"`
}

// Feature is a toggle in the environment.
type Feature struct {
	Name           string              `json:"name"`
	Type           string              `json:"type"`
	Enabled        bool                `json:"enabled"` // the switch
	Project        string              `json:"project"`
	Stale          bool                `json:"stale"`
	Strategies     []Strategy          `json:"strategies"` // in the order in which they are evaluated
	Variants       []FeatureVariant    `json:"variants"`   // if the strategy that holds has no variants
	Description    *string             `json:"description"`
	ImpressionData bool                `json:"impressionData"`
	Dependencies   []toggle.Dependency `json:"dependencies,omitempty"`
	Tags           []toggle.Tag        `json:"-"` // applications select toggles by them, and do not get them
}

// Strategy is a strategy of a toggle that is not disabled. It has no id, because old SDKs of Go expect a number there.
type Strategy struct {
	Name        string              `json:"name"`
	Constraints []toggle.Constraint `json:"constraints"`
	Parameters  map[string]string   `json:"parameters"`
	Variants    []toggle.Variant    `json:"variants"`
	Segments    []int64             `json:"segments,omitempty"` // ids
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
