package evaluation

import (
	"strconv"

	"toggleadmin/pkg/toggle"
)

// rollout is the rule of the types that hold for a percentage of the ids.
type rollout struct {
	percentage uint32
	group      string
	stickiness string // default, random, or the field that has the id
}

// compileRollout reads the percentage from a parameter. It is a whole number, because SDKs disagree about others.
func compileRollout(s *Strategy, parameter, stickiness, group string) rule {
	percentage, err := strconv.ParseUint(s.Parameters[parameter], 10, 32)
	if err != nil || percentage > 100 {
		return impossible{}
	}
	return rollout{uint32(percentage), group, stickiness}
}

// compileOldRollout compiles a rollout of a type whose stickiness is a field. Its group has no default.
func compileOldRollout(s *Strategy, field string) rule {
	group, ok := s.Parameters[toggle.ParameterGroupID]
	if !ok {
		return impossible{}
	}
	return compileRollout(s, toggle.ParameterPercentage, field, group)
}

func (r rollout) holds(ctx *Context) bool {
	number := r.number(ctx)
	return number != 0 && number <= r.percentage
}

// number returns the number of the context, from 1 to 100, or 0 if it has none, because the field is absent.
func (r rollout) number(ctx *Context) uint32 {
	field := stickyField(ctx, r.stickiness)
	if field == "" {
		return ctx.Random(100) + 1
	}
	id, ok := ctx.Fields[field]
	if !ok {
		return 0
	}
	return hashNumber(r.group, id, rolloutSeed, 100)
}

// stickyField returns the field whose value decides in which part of a rollout and which variant a context is. Empty: a
// random number decides.
func stickyField(ctx *Context, stickiness string) string {
	switch stickiness {
	case toggle.StickinessRandom:
		return ""
	case toggle.StickinessDefault:
		for _, field := range [...]string{toggle.FieldUserID, toggle.FieldSessionID} {
			if _, ok := ctx.Fields[field]; ok {
				return field
			}
		}
		return ""
	default:
		return stickiness
	}
}
