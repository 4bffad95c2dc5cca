package evaluation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// kind is a kind of values.
type kind int

const (
	texts kind = iota
	numbers
	dates
	versions
	addresses
)

// values are values that the service can store, and that applications send.
func values(kind kind) []string {
	switch kind {
	case numbers:
		return []string{"0", "1", "-1", "1.5", "18", "41", "1e3", "2E-3", "007", "0.3", "0.30000000000000004", "-0"}
	case dates:
		return []string{
			"2026-11-20T12:00:00Z", "2026-11-20T12:00:00.001Z", "2026-11-20T13:00:00+01:00", "2026-11-19T23:59:59-12:00",
			"1999-12-31T23:59:59Z", "2100-01-01T00:00:00.000Z",
		}
	case versions:
		return []string{
			"1.2.3", "1.2.3+b", "1.2.3-rc.1", "1.2.3-rc.2", "1.2.3-rc.10", "1.2.3-rc", "1.2.3-1", "1.2.3-beta", "1.10.0", "2.0.0",
			"0.0.1", "1.2.3-a-b.0",
		}
	case addresses:
		return []string{"192.0.2.7", "192.0.2.200", "198.51.100.1", "10.0.0.1", "2001:db8::7"}
	default:
		return []string{
			"a", "b", "ab", "abc", "ABC", "NO", "no", "SE", "Ærlig", "ærlig", "ΟΔΟΣ", "οδος", "x y", `q"q`, `b\s`, "[1]", "1", "true",
			"a,b", "%", "日本",
		}
	}
}

// hostileValues are values that the service rejects, or that applications should not send.
func hostileValues() []string {
	return []string{
		" a", "a ", " ", `a\`, `\\`, " 18", "18 ", "0x10", ".5", "5.", "+5", "inf", "-inf", "NaN", "1e400", "1_0", "v1.2.3", "1.2",
		"01.2.3", "99999999999999999999.0.0", "9007199254740993.0.0", "2026-11-20", "2026-11-20t12:00:00z", "1700000000000",
		"2026-11-20T12:00:00.5Z", "2026-11-20 12:00:00Z", "192.0.2", "192.0.2.7/33", "192.0.02.7", "nowhere", "::ffff:192.0.2.7",
		"fe80::1%eth0", "٣", "ø", "[a", "(?=a)", "null", "undefined",
	}
}

// fields are the fields of a context, with the kind of their values.
func fields() map[string]kind {
	return map[string]kind{
		"userId": texts, "sessionId": texts, "appName": texts, "environment": texts, "country": texts, "tenant": texts,
		"age": numbers, "currentTime": dates, "birthday": dates, "appVersion": versions, "remoteAddress": addresses,
		"proxy": addresses,
	}
}

// generator generates states and contexts.
type generator struct {
	*rand.Rand
	hostile float64 // the probability that a value is one of hostileValues
}

func (g *generator) chance(probability float64) bool {
	return g.Float64() < probability
}

func pick[T any](g *generator, from ...T) T {
	return from[g.IntN(len(from))]
}

// value returns a value that is usually of the kind.
func (g *generator) value(kind kind) string {
	if g.chance(g.hostile) {
		return pick(g, hostileValues()...)
	}
	return pick(g, values(kind)...)
}

func (g *generator) batch() batch {
	b := batch{State: g.state()}
	for range contexts {
		b.Contexts = append(b.Contexts, g.context())
	}
	return b
}

func (g *generator) context() sdkContext {
	ctx := sdkContext{}
	for _, name := range sortedFields() {
		switch {
		case g.chance(0.2):
		case name == "userId" || name == "sessionId" || name == "tenant":
			ctx[name] = g.id()
		case g.chance(0.1) && name != toggle.FieldCurrentTime: // of another kind
			ctx[name] = g.value(kind(g.IntN(int(addresses) + 1)))
		default:
			ctx[name] = g.value(fields()[name])
		}
	}
	return ctx
}

// id returns the id of a user, a session or a tenant.
func (g *generator) id() string {
	if g.chance(g.hostile) {
		return pick(g, "", " ", "ø", "日本")
	}
	return pick(g, "a", "ab", "1", "u-"+strconv.Itoa(g.IntN(1000)))
}

func sortedFields() []string {
	var names []string
	for name := range fields() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// state returns a state of two parents, two children, and segments.
func (g *generator) state() evaluation.Document {
	var state evaluation.Document
	for id := range int64(3) {
		state.Segments = append(state.Segments, toggle.Segment{
			ID: id + 1, Name: fmt.Sprint("segment ", id+1), Constraints: g.constraints(),
		})
	}
	for _, name := range []string{"parent-1", "parent-2", "child-1", "child-2"} {
		state.Features = append(state.Features, g.feature(name))
	}
	for i := range 2 {
		parent := &state.Features[i]
		state.Features[i+2].Dependencies = []toggle.Dependency{g.dependency(parent)}
	}
	return state
}

func (g *generator) feature(name string) evaluation.Feature {
	feature := evaluation.Feature{
		Name: name, Enabled: g.chance(0.9), Strategies: []evaluation.Strategy{}, Variants: []evaluation.FeatureVariant{},
	}
	for range 1 + g.IntN(3) {
		feature.Strategies = append(feature.Strategies, g.strategy(name))
	}
	if g.hostile > 0 && g.chance(0.3) {
		feature.Variants = g.featureVariants()
	}
	return feature
}

// featureVariants returns variants of a toggle, which only old versions of Unleash have.
func (g *generator) featureVariants() []evaluation.FeatureVariant {
	var variants []evaluation.FeatureVariant
	for _, variant := range g.variants(pick(g, "default", "userId", "country")) {
		overrides := []evaluation.Override{}
		if g.chance(0.3) {
			overrides = append(overrides, evaluation.Override{ContextName: "country", Values: values(texts)[:5]})
		}
		variants = append(variants, evaluation.FeatureVariant{Variant: variant, Overrides: overrides})
	}
	return variants
}

// dependency returns a dependency on a parent, which can name variants of the parent.
func (g *generator) dependency(parent *evaluation.Feature) toggle.Dependency {
	dependency := toggle.Dependency{Feature: parent.Name, Enabled: g.chance(0.7), Variants: []string{}}
	for _, strategy := range parent.Strategies {
		for _, variant := range strategy.Variants {
			if dependency.Enabled && g.chance(0.4) {
				dependency.Variants = append(dependency.Variants, variant.Name)
			}
		}
	}
	return dependency
}

func (g *generator) strategy(feature string) evaluation.Strategy {
	strategy := evaluation.Strategy{
		Name: pick(g, "flexibleRollout", "flexibleRollout", "flexibleRollout", "default", "userWithId", "gradualRolloutUserId",
			"gradualRolloutSessionId", "remoteAddress", "applicationHostname"),
		Constraints: g.constraints(),
		Variants:    []toggle.Variant{},
		Segments:    g.segments(),
	}
	strategy.Parameters = g.parameters(strategy.Name, feature)
	if strategy.Name == "flexibleRollout" && g.chance(0.6) {
		strategy.Variants = g.variants(strategy.Parameters["stickiness"])
	}
	return strategy
}

func (g *generator) segments() []int64 {
	ids := []int64{}
	for id := range int64(3) {
		if g.chance(0.15) {
			ids = append(ids, id+1)
		}
	}
	if g.chance(g.hostile) {
		ids = append(ids, 99)
	}
	return ids
}

func (g *generator) parameters(strategy, feature string) map[string]string {
	percentage := pick(g, "0", "1", "25", "50", "75", "99", "100", "100")
	switch strategy {
	case "flexibleRollout":
		return map[string]string{
			"rollout":    percentage,
			"stickiness": pick(g, "default", "default", "random", "userId", "sessionId", "tenant", "country", "remoteAddress"),
			"groupId":    pick(g, feature, "shared", "a b"),
		}
	case "gradualRolloutUserId", "gradualRolloutSessionId":
		if g.chance(g.hostile) {
			return map[string]string{"percentage": percentage}
		}
		return map[string]string{"percentage": percentage, "groupId": feature}
	case "userWithId":
		return map[string]string{"userIds": pick(g, "a,ab", "a , 1", "u-1,u-2,u-3", "b")}
	case "remoteAddress":
		return map[string]string{"IPs": g.network() + ", " + g.network()}
	case "applicationHostname":
		return map[string]string{"hostNames": pick(g, hostName, "web-2, WEB-1", "web-2")}
	default:
		return map[string]string{}
	}
}

func (g *generator) variants(stickiness string) []toggle.Variant {
	variants := pick(g,
		[]toggle.Variant{{Name: "a", Weight: 1000}},
		[]toggle.Variant{{Name: "a", Weight: 500}, {Name: "b", Weight: 500}},
		[]toggle.Variant{{Name: "a", Weight: 1}, {Name: "b", Weight: 0}, {Name: "c", Weight: 999}},
		[]toggle.Variant{{Name: "b", Weight: 334}, {Name: "c", Weight: 333}, {Name: "d", Weight: 333}},
	)
	for i := range variants {
		variants[i].WeightType = toggle.WeightVariable
		variants[i].Stickiness = stickiness
	}
	return variants
}

func (g *generator) constraints() []toggle.Constraint {
	constraints := []toggle.Constraint{}
	for g.chance(0.4) {
		constraints = append(constraints, g.constraint())
	}
	return constraints
}

func (g *generator) constraint() toggle.Constraint {
	operator := pick(g, evaluation.Operators()...)
	constraint := toggle.Constraint{
		ContextName: g.field(operator), Operator: operator,
		Inverted:        g.chance(0.3) && operator != toggle.OperatorRegex,
		CaseInsensitive: g.chance(0.3),
	}
	if !evaluation.TakesValues(operator) {
		constraint.Value = g.operand(operator)
		return constraint
	}
	for range 1 + g.IntN(3) {
		constraint.Values = append(constraint.Values, g.operand(operator))
	}
	if g.chance(g.hostile) {
		constraint.Values = nil
	}
	return constraint
}

// field returns a field, usually one with values that the operator can evaluate.
func (g *generator) field(operator toggle.Operator) string {
	kind := kindOf(operator)
	for {
		name := pick(g, sortedFields()...)
		if fields()[name] == kind || g.chance(0.1) {
			return name
		}
	}
}

// kindOf returns the kind of values of a field that an operator can evaluate.
func kindOf(operator toggle.Operator) kind {
	switch operator {
	case toggle.OperatorNumEq, toggle.OperatorNumGt, toggle.OperatorNumGte, toggle.OperatorNumLt, toggle.OperatorNumLte:
		return numbers
	case toggle.OperatorDateAfter, toggle.OperatorDateBefore:
		return dates
	case toggle.OperatorSemverEq, toggle.OperatorSemverGt, toggle.OperatorSemverGte, toggle.OperatorSemverLt,
		toggle.OperatorSemverLte:
		return versions
	case toggle.OperatorInCIDR:
		return addresses
	default:
		return texts
	}
}

// operand returns a value for a constraint.
func (g *generator) operand(operator toggle.Operator) string {
	switch {
	case operator == toggle.OperatorRegex:
		return g.regex()
	case operator == toggle.OperatorInCIDR:
		return g.network()
	default:
		return g.value(kindOf(operator))
	}
}

// regex returns a regular expression. If it is not hostile, the service stores it.
func (g *generator) regex() string {
	if g.chance(g.hostile) {
		return pick(g, "[a", "(?=a)", `a\`, `\d`, `\w+\b`, "a{", `\Qa\E`, "[a&&b]", `(a)\1`, "(?)", `\<a`, "a(?i)*")
	}
	for {
		expression := ""
		for range 1 + g.IntN(5) {
			expression += pick(g, regexParts()...)
		}
		if evaluation.CheckValue(toggle.OperatorRegex, expression) == nil {
			return expression
		}
	}
}

// regexParts are parts of regular expressions, but none whose meaning differs for texts that are not ASCII.
func regexParts() []string {
	return []string{
		"a", "b", "A", "1", "no", "æ", "日", ".", "^", "$", "|", "*", "+", "?", "*?", "(", ")", "(?:", "(?P<n>", "(?i)", "(?s)", "(?U)",
		"[", "[^", "]", "-", "&", "~", "[a-c]", "[[:alpha:]]", "[:digit:]", "{", "}", "{2}", "{1,2}", "{,2}", `\.`, `\-`, `\s`, `\A`,
		`\z`, `\x41`, `\x{e6}`, `\pL`, `\p{Greek}`, `\n`, `\\`, `\"`, `"`, `\Q`, `\141`, `\<`, " ", ",", ":",
	}
}

func (g *generator) network() string {
	if g.chance(g.hostile) {
		return pick(g, "192.0.2", "192.0.2.0/33", "192.0.2.0/024", "nowhere", "::ffff:192.0.2.7", " 192.0.2.7")
	}
	return pick(g, "192.0.2.7", "192.0.2.0/24", "192.0.2.77/28", "10.0.0.0/8", "0.0.0.0/0", "198.51.100.1/32",
		"2001:db8::/32")
}
