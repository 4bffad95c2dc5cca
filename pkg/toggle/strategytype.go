package toggle

import "slices"

// The types of strategies, the values of Strategy.Name.
const (
	StrategyDefault             = "default"
	StrategyFlexibleRollout     = "flexibleRollout"
	StrategyRemoteAddress       = "remoteAddress"
	StrategyApplicationHostname = "applicationHostname"

	// Old types are evaluated, but cannot be created. They come from an import.
	StrategyUserWithID              = "userWithId"
	StrategyGradualRolloutUserID    = "gradualRolloutUserId"
	StrategyGradualRolloutSessionID = "gradualRolloutSessionId"
	StrategyGradualRolloutRandom    = "gradualRolloutRandom"
)

// The names of parameters of strategies.
const (
	ParameterRollout    = "rollout"    // of flexibleRollout: a percentage, "0" to "100"
	ParameterStickiness = "stickiness" // of flexibleRollout: a context field, or one of the values below
	ParameterGroupID    = "groupId"    // of the rollouts
	ParameterPercentage = "percentage" // of the old rollouts
	ParameterUserIDs    = "userIds"    // of userWithId
	ParameterIPs        = "IPs"        // of remoteAddress
	ParameterHostNames  = "hostNames"  // of applicationHostname
)

// The values of stickiness that are no context field.
const (
	StickinessDefault = "default" // userId, else sessionId, else random
	StickinessRandom  = "random"
)

// StrategyType is a type of strategy.
type StrategyType struct {
	Name        string
	Label       string // for people
	Description string
	Parameters  []Parameter

	// Replacement is what to use instead of an old type, which cannot be created; empty: it can be created.
	Replacement string
}

// Parameter is a parameter of the strategies of a type.
type Parameter struct {
	Name        string
	Kind        ParameterKind
	Description string

	// Default is the value of an omitted parameter. If it is empty, the parameter is required. The default of a group id
	// is the name of the toggle.
	Default string
}

// IsRequired reports whether the parameter has no default.
func (p Parameter) IsRequired() bool { return p.Default == "" && p.Name != ParameterGroupID }

// ParameterKind says what the text of a parameter contains.
type ParameterKind string

// The kinds of parameters.
const (
	KindPercentage ParameterKind = "percentage" // a whole number, 0 to 100
	KindText       ParameterKind = "string"
	KindList       ParameterKind = "list" // entries separated by commas
)

// StrategyTypes returns all types of strategies. Those that can be created come first.
func StrategyTypes() []StrategyType {
	group := Parameter{
		Name: ParameterGroupID, Kind: KindText,
		Description: "Strategies with the same group id select the same users. Default: the name of the toggle.",
	}
	percentage := Parameter{Name: ParameterPercentage, Kind: KindPercentage, Description: "The share of the selected users."}
	return []StrategyType{
		{
			Name: StrategyFlexibleRollout, Label: "Gradual rollout", Description: "On for a share of the users.",
			Parameters: []Parameter{
				{
					Name: ParameterRollout, Kind: KindPercentage, Description: "The share of the selected users.",
					Default: "100",
				},
				{
					Name: ParameterStickiness, Kind: KindText,
					Description: "The context field whose values are selected: default (userId, otherwise sessionId, otherwise " +
						"random), random, userId, sessionId, or a context field with stickiness.",
					Default: StickinessDefault,
				},
				group,
			},
		},
		{Name: StrategyDefault, Label: "Standard", Description: "On for everybody."},
		{
			Name: StrategyRemoteAddress, Label: "IP addresses", Description: "On for IP addresses.",
			Parameters: []Parameter{
				{Name: ParameterIPs, Kind: KindList, Description: "IP addresses and CIDRs, separated by commas."},
			},
		},
		{
			Name: StrategyApplicationHostname, Label: "Hosts", Description: "On for hosts of the application.",
			Parameters: []Parameter{
				{Name: ParameterHostNames, Kind: KindList, Description: "Names of hosts, separated by commas."},
			},
		},
		{
			Name: StrategyUserWithID, Label: "User ids", Description: "On for users.",
			Parameters:  []Parameter{{Name: ParameterUserIDs, Kind: KindList, Description: "User ids, separated by commas."}},
			Replacement: "a constraint on userId",
		},
		{
			Name: StrategyGradualRolloutUserID, Label: "Gradual rollout by user",
			Description: "On for a share of the users, by userId.", Parameters: []Parameter{percentage, group},
			Replacement: StrategyFlexibleRollout,
		},
		{
			Name: StrategyGradualRolloutSessionID, Label: "Gradual rollout by session",
			Description: "On for a share of the sessions, by sessionId.", Parameters: []Parameter{percentage, group},
			Replacement: StrategyFlexibleRollout,
		},
		{
			Name: StrategyGradualRolloutRandom, Label: "Random rollout",
			Description: "On for a share of the evaluations.", Parameters: []Parameter{percentage, group},
			Replacement: StrategyFlexibleRollout,
		},
	}
}

// StrategyTypeOf returns the type of strategy with a name.
func StrategyTypeOf(name string) (t StrategyType, found bool) {
	all := StrategyTypes()
	i := slices.IndexFunc(all, func(t StrategyType) bool { return t.Name == name })
	if i < 0 {
		return StrategyType{}, false
	}
	return all[i], true
}

// DefaultParameters returns the parameters of a type of strategy of a toggle with their defaults; nil: there is no such
// type. A parameter whose default is empty is required.
func DefaultParameters(strategy, feature string) map[string]string {
	t, found := StrategyTypeOf(strategy)
	if !found {
		return nil
	}
	defaults := map[string]string{}
	for _, p := range t.Parameters {
		defaults[p.Name] = p.Default
		if p.Name == ParameterGroupID {
			defaults[p.Name] = feature
		}
	}
	return defaults
}
