package compare

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// sampled is the maximum number of values of a list that contexts are made from.
const sampled = 20

// Contexts returns n contexts that are made from the strategies of documents, one strategy after the other. In half of
// them, all constraints of the strategy hold, if that is possible. In the others, one does not hold, or the values are
// those of any constraints. The same documents have the same contexts.
func Contexts(n int, now time.Time, documents ...evaluation.Document) []Fields {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // no secret
	g := generator{
		random: random, now: now, engine: evaluation.New(evaluation.Document{}), values: map[string][]string{},
	}
	for _, d := range documents {
		for _, f := range d.Features {
			for _, s := range f.Strategies {
				g.add(constraintsOf(d, s), s.Parameters)
			}
			for _, v := range f.Variants {
				for _, o := range v.Overrides {
					g.add([]toggle.Constraint{{ContextName: o.ContextName, Operator: toggle.OperatorIn, Values: o.Values}}, nil)
				}
			}
		}
	}
	if len(g.targets) == 0 {
		g.targets = [][]target{nil}
	}
	contexts := make([]Fields, n)
	for i := range contexts {
		contexts[i] = g.context(i)
	}
	return contexts
}

// generator makes contexts.
type generator struct {
	random  *rand.Rand
	now     time.Time
	engine  *evaluation.Engine  // without toggles
	targets [][]target          // of each strategy
	values  map[string][]string // of each field, in any constraint
}

// target is a constraint with values of its field.
type target struct {
	field        string
	holds, fails []string
}

// add adds a strategy.
func (g *generator) add(constraints []toggle.Constraint, parameters map[string]string) {
	for parameter, field := range map[string]string{
		toggle.ParameterUserIDs: toggle.FieldUserID, toggle.ParameterIPs: toggle.FieldRemoteAddress,
		toggle.ParameterHostNames: HostField,
	} {
		if list := parameters[parameter]; list != "" {
			g.know(field, g.sample(evaluation.Entries(list))...)
		}
	}
	if field := parameters[toggle.ParameterStickiness]; field != "" && field != toggle.StickinessDefault &&
		field != toggle.StickinessRandom {
		g.know(field, "1", "2", "3")
	}
	var all []target
	for _, c := range constraints {
		t := target{field: c.ContextName}
		for _, value := range g.candidates(c) {
			g.know(c.ContextName, value)
			if g.holds(c, value) {
				t.holds = append(t.holds, value)
			} else {
				t.fails = append(t.fails, value)
			}
		}
		all = append(all, t)
	}
	g.targets = append(g.targets, all)
}

// know adds values of a field.
func (g *generator) know(field string, values ...string) {
	for _, value := range values {
		if !slices.Contains(g.values[field], value) {
			g.values[field] = append(g.values[field], value)
		}
	}
}

// holds reports whether a constraint holds for a value of its field.
func (g *generator) holds(c toggle.Constraint, value string) bool {
	s := evaluation.Strategy{Name: toggle.StrategyDefault, Constraints: []toggle.Constraint{c}}
	ctx := evaluated(Fields{c.ContextName: value}, g.now, 0)
	return g.engine.ExplainStrategy("", &s, ctx).Holds
}

// sample returns some values of a list.
func (g *generator) sample(values []string) []string {
	if len(values) <= sampled {
		return values
	}
	var some []string
	for range sampled {
		some = append(some, values[g.random.IntN(len(values))])
	}
	return some
}

// candidates returns values of the field of a constraint: at its limits, and around them.
func (g *generator) candidates(c toggle.Constraint) []string {
	values := g.sample(c.Values)
	if c.Value != "" {
		values = append(slices.Clone(values), c.Value)
	}
	all := []string{"other"}
	for _, value := range values {
		value = strings.TrimSpace(value)
		all = append(all, value, value+"x", "x"+value, strings.ToUpper(value), strings.ToLower(value))
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			for _, near := range []float64{number - 1, number + 1} {
				all = append(all, strconv.FormatFloat(near, 'f', -1, 64))
			}
		}
		if at, err := time.Parse(time.RFC3339, value); err == nil {
			for _, near := range []time.Duration{-time.Second, time.Second} {
				all = append(all, at.Add(near).UTC().Format(time.RFC3339))
			}
		}
		if network, err := netip.ParsePrefix(value); err == nil {
			all = append(all, network.Addr().String())
		}
		switch c.Operator { //nolint:exhaustive // of the others, the values themselves suffice
		case toggle.OperatorSemverEq, toggle.OperatorSemverGt, toggle.OperatorSemverGte, toggle.OperatorSemverLt,
			toggle.OperatorSemverLte:
			all = append(all, "0.0.0", "999.0.0")
		case toggle.OperatorRegex:
			if expression, err := syntax.Parse(value, syntax.Perl); err == nil {
				all = append(all, match(expression))
			}
		}
	}
	return all
}

// match returns a text that a regular expression matches, if it has no conditions on what is around it.
func match(e *syntax.Regexp) string {
	each := func(times int) (text string) {
		for range times {
			for _, sub := range e.Sub {
				text += match(sub)
			}
		}
		return text
	}
	switch e.Op { //nolint:exhaustive // the others match the empty text
	case syntax.OpLiteral:
		return string(e.Rune)
	case syntax.OpCharClass:
		return string(e.Rune[:min(len(e.Rune), 1)])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		return each(1)
	case syntax.OpRepeat:
		return each(e.Min)
	case syntax.OpAlternate:
		return match(e.Sub[0])
	}
	return ""
}

// context returns the context with the number i.
func (g *generator) context(i int) Fields {
	fields := Fields{toggle.FieldUserID: fmt.Sprint("user-", i), toggle.FieldSessionID: fmt.Sprint("session-", i)}
	for _, name := range slices.Sorted(maps.Keys(g.values)) {
		if g.random.IntN(2) == 0 {
			fields[name] = g.choose(g.values[name])
		}
	}
	targets := g.targets[i%len(g.targets)]
	round := i / len(g.targets)
	if round%4 == 3 || len(targets) == 0 {
		return fields
	}
	broken := -1
	if round%4 == 1 {
		broken = g.random.IntN(len(targets))
	}
	for n, t := range targets {
		values := t.holds
		if n == broken {
			values = t.fails
		}
		if len(values) > 0 {
			fields[t.field] = g.choose(values)
		}
	}
	return fields
}

func (g *generator) choose(values []string) string { return values[g.random.IntN(len(values))] }
