package evaluation

import (
	"strings"

	"toggleadmin/pkg/toggle"
)

// strategy is a compiled strategy.
type strategy struct {
	source      *Strategy
	constraints []constraint
	segments    []*segment // nil: the document does not have the segment
	rule        rule
	variants    variants
}

// segment is a compiled segment.
type segment struct {
	source      *toggle.Segment
	constraints []constraint
}

// rule is what the type of a strategy and its parameters demand.
type rule interface {
	holds(ctx *Context) bool
}

// always is the rule of the type default.
type always struct{}

func (always) holds(*Context) bool { return true }

// impossible is the rule of an unknown type, and of parameters that are missing or malformed.
type impossible struct{}

func (impossible) holds(*Context) bool { return false }

// fieldRule is the rule of the types userWithId and remoteAddress: a condition on a field.
type fieldRule struct {
	field     string
	condition condition
}

func (r fieldRule) holds(ctx *Context) bool {
	value, ok := ctx.Fields[r.field]
	return ok && r.condition.holds(value)
}

// hostRule is the rule of the type applicationHostname: the host names, in lower case.
type hostRule struct{ names set }

func (r hostRule) holds(ctx *Context) bool {
	return r.names.holds(strings.ToLower(ctx.HostName))
}

func compileStrategy(s *Strategy, feature string, segments map[int64]*segment) strategy {
	compiled := strategy{
		source:      s,
		constraints: compileConstraints(s.Constraints),
		rule:        compileRule(s, feature),
		variants:    compileStrategyVariants(s, feature),
	}
	for _, id := range s.Segments {
		compiled.segments = append(compiled.segments, segments[id])
	}
	return compiled
}

func compileRule(s *Strategy, feature string) rule {
	switch s.Name {
	case toggle.StrategyDefault:
		return always{}
	case toggle.StrategyFlexibleRollout:
		return compileRollout(s, toggle.ParameterRollout, stickinessOf(s), groupOf(s, feature))
	case toggle.StrategyGradualRolloutUserID:
		return compileOldRollout(s, toggle.FieldUserID)
	case toggle.StrategyGradualRolloutSessionID:
		return compileOldRollout(s, toggle.FieldSessionID)
	case toggle.StrategyGradualRolloutRandom:
		return compileRollout(s, toggle.ParameterPercentage, toggle.StickinessRandom, "")
	case toggle.StrategyUserWithID:
		return fieldRule{toggle.FieldUserID, newSet(Entries(s.Parameters[toggle.ParameterUserIDs]))}
	case toggle.StrategyRemoteAddress:
		return fieldRule{toggle.FieldRemoteAddress, compileNetworks(Entries(s.Parameters[toggle.ParameterIPs]))}
	case toggle.StrategyApplicationHostname:
		return compileHosts(Entries(s.Parameters[toggle.ParameterHostNames]))
	default:
		return impossible{}
	}
}

func compileHosts(names []string) rule {
	lower := make([]string, len(names))
	for i, name := range names {
		lower[i] = strings.ToLower(name)
	}
	return hostRule{newSet(lower)}
}

// groupOf returns the group of the hashes of a strategy.
func groupOf(s *Strategy, feature string) string {
	if group, ok := s.Parameters[toggle.ParameterGroupID]; ok {
		return group
	}
	return feature
}

func stickinessOf(s *Strategy) string {
	if stickiness, ok := s.Parameters[toggle.ParameterStickiness]; ok {
		return stickiness
	}
	return toggle.StickinessDefault
}

// targets reports whether the constraints and the segments hold.
func (s *strategy) targets(ctx *Context) bool {
	if !allHold(s.constraints, ctx) {
		return false
	}
	for _, segment := range s.segments {
		if segment == nil || !allHold(segment.constraints, ctx) {
			return false
		}
	}
	return true
}

func (s *strategy) isRollout() bool {
	_, ok := s.rule.(rollout)
	return ok
}

// isPartial reports whether a rollout excludes some contexts.
func (s *strategy) isPartial() bool {
	r, ok := s.rule.(rollout)
	return ok && r.percentage < 100
}

// isForAll reports whether the strategy has no condition but a rollout.
func (s *strategy) isForAll() bool {
	return len(s.constraints) == 0 && len(s.segments) == 0 && (s.rule == always{} || s.isRollout())
}
