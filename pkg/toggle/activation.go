package toggle

import "encoding/json"

// Strategy is one of the ordered activation strategies of a toggle in an environment. If the toggle is switched on
// there, it is on for a context for which one of them holds. Its JSON form is that of the API, of events and of the
// export document.
type Strategy struct {
	ID          string            `json:"id"` // unique; later strategies have greater ids
	Name        string            `json:"name"`
	Title       *string           `json:"title"` // nil: none
	Disabled    bool              `json:"disabled"`
	SortOrder   int32             `json:"sortOrder"` // ties are ordered by ID
	Constraints []Constraint      `json:"constraints"`
	Parameters  map[string]string `json:"parameters"`
	Variants    []Variant         `json:"variants"`
	Segments    []int64           `json:"segments"` // ids, ascending, without duplicates
}

// Constraint is a condition on a field of the context. A constraint has Values or Value, according to its operator.
type Constraint struct {
	ContextName     string   `json:"contextName"`
	Operator        Operator `json:"operator"`
	Values          []string `json:"values,omitzero"` // applications get [], not null or nothing
	Value           string   `json:"value,omitempty"`
	Inverted        bool     `json:"inverted"`
	CaseInsensitive bool     `json:"caseInsensitive"`
}

// Operator is the operator of a constraint.
type Operator string

// The operators.
const (
	OperatorIn            Operator = "IN"
	OperatorNotIn         Operator = "NOT_IN"
	OperatorStrContains   Operator = "STR_CONTAINS"
	OperatorStrStartsWith Operator = "STR_STARTS_WITH"
	OperatorStrEndsWith   Operator = "STR_ENDS_WITH"
	OperatorNumEq         Operator = "NUM_EQ"
	OperatorNumGt         Operator = "NUM_GT"
	OperatorNumGte        Operator = "NUM_GTE"
	OperatorNumLt         Operator = "NUM_LT"
	OperatorNumLte        Operator = "NUM_LTE"
	OperatorDateAfter     Operator = "DATE_AFTER"
	OperatorDateBefore    Operator = "DATE_BEFORE"
	OperatorSemverEq      Operator = "SEMVER_EQ"
	OperatorSemverGt      Operator = "SEMVER_GT"
	OperatorSemverGte     Operator = "SEMVER_GTE"
	OperatorSemverLt      Operator = "SEMVER_LT"
	OperatorSemverLte     Operator = "SEMVER_LTE"
	OperatorRegex         Operator = "REGEX"
	OperatorInCIDR        Operator = "IN_CIDR"
)

// The fields that every context has. They need no definition as context fields.
const (
	FieldUserID        = "userId"
	FieldSessionID     = "sessionId"
	FieldRemoteAddress = "remoteAddress"
	FieldAppName       = "appName"
	FieldEnvironment   = "environment"
	FieldCurrentTime   = "currentTime"
)

// IsFixedField reports whether every context has the field.
func IsFixedField(name string) bool {
	switch name {
	case FieldUserID, FieldSessionID, FieldRemoteAddress, FieldAppName, FieldEnvironment, FieldCurrentTime:
		return true
	default:
		return false
	}
}

// Variant is one of the variants of a strategy. The weights of all of them add up to TotalWeight.
type Variant struct {
	Name       string     `json:"name"`
	Weight     int        `json:"weight"` // 0 to TotalWeight
	WeightType WeightType `json:"weightType"`
	Stickiness string     `json:"stickiness"` // that of the strategy
	Payload    *Payload   `json:"payload,omitempty"`
}

// TotalWeight is the sum of the weights of the variants of a strategy.
const TotalWeight = 1000

// WeightType says whether a weight is kept when the weights of other variants change.
type WeightType string

// The types of weights.
const (
	WeightVariable WeightType = "variable"
	WeightFixed    WeightType = "fix"
)

// Payload is a value that a variant delivers to an application.
type Payload struct {
	Type  string `json:"type"` // string, json, csv or number
	Value string `json:"value"`
}

// Segment is a list of constraints that strategies share.
type Segment struct {
	ID          int64        `json:"id"` // rises, and is never used again
	Name        string       `json:"name"`
	Constraints []Constraint `json:"constraints"`
}

// Environment is the state of a toggle in an environment. A toggle without a state in an environment is off there and
// has no strategies.
type Environment struct {
	Enabled    bool       `json:"enabled"`
	Strategies []Strategy `json:"strategies"` // ordered by SortOrder, then by ID
}

// Dependency is the condition of a toggle on its parent.
type Dependency struct {
	Feature  string   `json:"feature"`           // the parent
	Enabled  bool     `json:"enabled"`           // whether the parent must be on or off
	Variants []string `json:"variants,omitzero"` // of a parent that must be on: those that suffice; empty: all
}

// UnmarshalJSON reads a dependency in which enabled can be absent, as in Unleash's API. The parent must be on then.
func (d *Dependency) UnmarshalJSON(data []byte) error {
	type plain Dependency
	read := plain{Enabled: true}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*d = Dependency(read)
	return nil
}
