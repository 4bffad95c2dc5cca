package evaluation

import "toggleadmin/pkg/toggle"

// constraint is a compiled constraint.
type constraint struct {
	source    *toggle.Constraint
	condition condition // nil: the operator is unknown
}

// condition is the operator of a constraint with its values.
type condition interface {
	// holds reports whether the value of the field fulfills the condition.
	holds(value string) bool
}

// never is the condition of a constraint whose value its operator cannot evaluate.
type never struct{}

func (never) holds(string) bool { return false }

func compileConstraints(sources []toggle.Constraint) []constraint {
	constraints := make([]constraint, len(sources))
	for i := range sources {
		constraints[i] = constraint{&sources[i], compileCondition(&sources[i])}
	}
	return constraints
}

func compileCondition(c *toggle.Constraint) condition {
	if o := operatorOf(c.Operator); o != nil {
		return o.compile(c)
	}
	return nil
}

// maxValue is the maximum number of characters of a value that is evaluated. The time of an evaluation grows with it,
// and applications without a secret choose the values. Values of constraints have at most 100 characters.
const maxValue = 10_000

// holds reports whether the context fulfills the constraint. A field that is absent or that the operator cannot
// evaluate does not fulfill it; the opposite is true of an inverted constraint. An unknown operator is never fulfilled.
func (c *constraint) holds(ctx *Context) bool {
	if c.condition == nil {
		return false
	}
	return c.conditionHolds(ctx) != c.inverted()
}

func (c *constraint) conditionHolds(ctx *Context) bool {
	value, present := ctx.Fields[c.source.ContextName]
	if present {
		return !isLonger(value, maxValue) && c.condition.holds(value)
	}
	if c.source.ContextName != toggle.FieldCurrentTime {
		return false
	}
	if date, ok := c.condition.(dateCondition); ok {
		return date.holdsAt(ctx.Now)
	}
	return c.condition.holds(formatTime(ctx.Now))
}

// inverted reports whether the condition must not hold. NOT_IN is the opposite of IN, of an absent field too.
func (c *constraint) inverted() bool {
	return c.source.Inverted != (c.source.Operator == toggle.OperatorNotIn)
}

func allHold(constraints []constraint, ctx *Context) bool {
	for i := range constraints {
		if !constraints[i].holds(ctx) {
			return false
		}
	}
	return true
}
