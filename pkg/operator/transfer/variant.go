package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// variants returns the variants of a strategy as they will be stored, or why they cannot be.
func (p *preparation) variants(s toggle.Strategy) ([]toggle.Variant, error) {
	if len(s.Variants) == 0 {
		return nil, nil
	}
	if s.Name != toggle.StrategyFlexibleRollout {
		return nil, errors.New("it has variants, which only flexibleRollout can have")
	}
	all := slices.Clone(s.Variants) // in their order, which decides who gets which
	names := map[string]bool{}
	stickiness := s.Parameters[toggle.ParameterStickiness]
	total, variable := 0, false
	for i := range all {
		v := &all[i]
		if err := checkVariant(*v); err != nil {
			return nil, fmt.Errorf("its variant %.100q %w", v.Name, err)
		}
		if names[v.Name] {
			return nil, fmt.Errorf("its variant %q occurs more than once", v.Name)
		}
		names[v.Name] = true
		if v.Stickiness != "" && v.Stickiness != stickiness {
			return nil, fmt.Errorf("its variant %s has the stickiness %.100q, which is not that of the strategy, %.100q", v.Name,
				v.Stickiness, stickiness)
		}
		v.Stickiness = stickiness
		total += v.Weight
		variable = variable || v.WeightType == toggle.WeightVariable
	}
	if total != toggle.TotalWeight {
		return nil, fmt.Errorf("its variants have the total weight %d: it must be %d", total, toggle.TotalWeight)
	}
	if !variable { // the weight stays, and is the one that follows the others when they are changed here
		all[0].WeightType = toggle.WeightVariable
	}
	return all, nil
}

// checkVariant returns an error if a variant cannot be stored. Its text continues a sentence that names the variant.
func checkVariant(v toggle.Variant) error {
	switch {
	case toggle.CheckName(v.Name) != nil:
		return fmt.Errorf("has a name that is not valid: %w", toggle.CheckName(v.Name))
	case v.Weight < 0 || v.Weight > toggle.TotalWeight:
		return fmt.Errorf("has the weight %d: use 0 to %d", v.Weight, toggle.TotalWeight)
	case v.WeightType != toggle.WeightVariable && v.WeightType != toggle.WeightFixed:
		return fmt.Errorf("has the weight type %.100q: use variable or fix", string(v.WeightType))
	case v.Payload == nil:
		return nil
	case utf8.RuneCountInString(v.Payload.Value) > toggle.MaxPayload:
		return fmt.Errorf("has a payload of more than %d characters", toggle.MaxPayload)
	}
	switch v.Payload.Type {
	case "string", "csv":
		return nil
	case "json":
		if !json.Valid([]byte(v.Payload.Value)) {
			return errors.New("has a payload that is not JSON")
		}
		return nil
	case "number":
		if err := evaluation.CheckValue(toggle.OperatorNumEq, v.Payload.Value); err != nil {
			return fmt.Errorf("has the payload %.100q, which %w", v.Payload.Value, err)
		}
		return nil
	default:
		return fmt.Errorf("has a payload of the unknown type %.100q", v.Payload.Type)
	}
}
