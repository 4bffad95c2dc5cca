package transfer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// parametersOf returns the parameters of a type of strategy, with the values with which SDKs evaluate it if they are
// missing; nil: there is no such type. The old rollouts have an empty group then, and not that of the toggle.
func parametersOf(strategy, feature string) map[string]string {
	all := toggle.DefaultParameters(strategy, feature)
	if _, grouped := all[toggle.ParameterGroupID]; grouped && strategy != toggle.StrategyFlexibleRollout {
		all[toggle.ParameterGroupID] = ""
	}
	return all
}

// parameters returns the parameters of a strategy as they will be stored, or an error if SDKs cannot evaluate them.
func (p *preparation) parameters(s toggle.Strategy) (map[string]string, error) {
	all := parametersOf(s.Name, p.feature)
	if all == nil {
		return nil, fmt.Errorf("the strategy type %.100q does not exist here", s.Name)
	}
	if _, sent := s.Parameters[toggle.ParameterRollout]; !sent && s.Name == toggle.StrategyFlexibleRollout {
		return nil, fmt.Errorf("it has no parameter %s", toggle.ParameterRollout)
	}
	for name, value := range s.Parameters {
		if _, known := all[name]; known { // SDKs ignore others
			all[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		switch name {
		case toggle.ParameterGroupID:
			continue // SDKs hash every text, although the API rejects some; another one would select other users
		case toggle.ParameterStickiness:
			if !constraint.PermitsStickiness(value, p.fields) {
				return nil, fmt.Errorf("its stickiness %.100q is no context field with stickiness", value)
			}
			continue
		case toggle.ParameterUserIDs, toggle.ParameterIPs, toggle.ParameterHostNames:
			all[name] = strings.Join(evaluation.Entries(value), ",") // SDKs disagree about blanks and empty entries
		}
		if err := evaluation.CheckParameter(name, value); err != nil {
			return nil, fmt.Errorf("its parameter %s %w; it is %.100q", name, err, value)
		}
	}
	return all, nil
}
