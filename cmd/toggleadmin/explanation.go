package main

import (
	"fmt"
	"strings"

	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// explanationOf returns the lines that say whether a toggle is on, and why. Each line after the first one is a
// condition and whether it holds. The toggle exists: one that the explanation does not know is archived.
func explanationOf(name, environment string, e playground.Explanation) []string {
	result := "off"
	if e.Enabled {
		result = "on"
	}
	first := fmt.Sprintf("%s is %s in %s", name, result, environment)
	if e.Variant != nil {
		first += " with the variant " + e.Variant.Name
	}
	lines := []string{first}
	if !e.Known {
		return append(lines, "archived: yes")
	}
	lines = append(lines, "switched on: "+yesNo(e.SwitchedOn))
	for _, d := range e.Dependencies {
		lines = append(lines, dependencyWords(d.Dependency)+": "+yesNo(d.Holds))
	}
	for i, s := range e.All {
		holds := "does not hold"
		if s.Holds {
			holds = "holds"
		}
		lines = append(lines, fmt.Sprintf("strategy %d, %s: %s", i+1, strategyWords(s.Stored), holds))
		lines = append(lines, indented(strategyLines(s))...)
	}
	return lines
}

func dependencyWords(d toggle.Dependency) string {
	switch {
	case !d.Enabled:
		return fmt.Sprintf("parent %s is off", d.Feature)
	case len(d.Variants) > 0:
		return fmt.Sprintf("parent %s is on with the variant %s", d.Feature, alternatives(d.Variants))
	default:
		return fmt.Sprintf("parent %s is on", d.Feature)
	}
}

func strategyWords(s toggle.Strategy) string {
	words := s.Name
	if s.Title != nil {
		words += fmt.Sprintf(" %q", *s.Title)
	}
	if s.Disabled {
		words += " (disabled)"
	}
	return words
}

// strategyLines returns the conditions of a strategy.
func strategyLines(s playground.StrategyExplanation) []string {
	lines := constraintLines(s.Constraints)
	for _, g := range s.Segments {
		name := g.Name
		if !g.Known {
			name = fmt.Sprintf("%d, which does not exist", g.ID)
		}
		lines = append(lines, fmt.Sprintf("segment %s: %s", name, yesNo(g.Holds)))
		lines = append(lines, indented(constraintLines(g.Constraints))...)
	}
	if words := ruleWords(s); words != "" {
		lines = append(lines, words)
	}
	return lines
}

func constraintLines(constraints []evaluation.ConstraintExplanation) []string {
	var lines []string
	for _, c := range constraints {
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", constraintWords(c.Constraint), yesNo(c.Holds), valueWords(c)))
	}
	return lines
}

func valueWords(c evaluation.ConstraintExplanation) string {
	switch {
	case c.ContextValue == nil:
		return "absent"
	case *c.ContextValue == "":
		return "empty"
	default:
		return *c.ContextValue
	}
}

// ruleWords returns the condition of the type of a strategy; empty: it has none.
func ruleWords(s playground.StrategyExplanation) string {
	holds := yesNo(s.RuleHolds)
	entries := func(parameter string) string {
		return alternatives(strings.Split(s.Strategy.Parameters[parameter], ","))
	}
	switch {
	case s.Rollout != nil:
		return rolloutWords(*s.Rollout)
	case s.Strategy.Name == toggle.StrategyRemoteAddress:
		return fmt.Sprintf("remoteAddress is in %s: %s", entries(toggle.ParameterIPs), holds)
	case s.Strategy.Name == toggle.StrategyUserWithID:
		return fmt.Sprintf("userId is %s: %s", entries(toggle.ParameterUserIDs), holds)
	case s.Strategy.Name == toggle.StrategyApplicationHostname:
		return fmt.Sprintf("the host is %s: %s (absent)", entries(toggle.ParameterHostNames), holds)
	case !s.RuleHolds:
		return "the parameters are valid: no"
	}
	return ""
}

func rolloutWords(r evaluation.RolloutExplanation) string {
	by := "by " + r.Field
	if r.Field == "" {
		by = "at random"
	}
	number := fmt.Sprintf("number %d", r.Number)
	if r.Number == 0 {
		number = "absent"
	}
	return fmt.Sprintf("%d %% %s: %s (%s)", r.Percentage, by, yesNo(r.Number != 0 && r.Number <= r.Percentage), number)
}

// constraintWords returns a constraint in words, such as "country is NO or SE".
func constraintWords(c toggle.Constraint) string {
	phrase, known := operatorPhrases[c.Operator]
	if !known {
		phrase = [2]string{string(c.Operator), "not " + string(c.Operator)}
	}
	words := phrase[0]
	if c.Inverted {
		words = phrase[1]
	}
	value := c.Value
	if len(c.Values) > 0 {
		value = alternatives(c.Values)
	}
	words = c.ContextName + " " + words + " " + value
	if c.CaseInsensitive {
		words += " in any letter case"
	}
	return words
}

// operatorPhrases are the words between a field and its values, and those of an inverted constraint.
var operatorPhrases = map[toggle.Operator][2]string{
	toggle.OperatorIn:            {"is", "is not"},
	toggle.OperatorNotIn:         {"is not", "is"},
	toggle.OperatorStrContains:   {"contains", "does not contain"},
	toggle.OperatorStrStartsWith: {"starts with", "does not start with"},
	toggle.OperatorStrEndsWith:   {"ends with", "does not end with"},
	toggle.OperatorRegex:         {"matches the expression", "does not match the expression"},
	toggle.OperatorNumEq:         {"is the number", "is not the number"},
	toggle.OperatorNumGt:         {"is greater than", "is not greater than"},
	toggle.OperatorNumGte:        {"is at least", "is not at least"},
	toggle.OperatorNumLt:         {"is less than", "is not less than"},
	toggle.OperatorNumLte:        {"is at most", "is not at most"},
	toggle.OperatorDateAfter:     {"is after", "is not after"},
	toggle.OperatorDateBefore:    {"is before", "is not before"},
	toggle.OperatorSemverEq:      {"is version", "is not version"},
	toggle.OperatorSemverGt:      {"is later than version", "is not later than version"},
	toggle.OperatorSemverGte:     {"is at least version", "is not at least version"},
	toggle.OperatorSemverLt:      {"is earlier than version", "is not earlier than version"},
	toggle.OperatorSemverLte:     {"is at most version", "is not at most version"},
	toggle.OperatorInCIDR:        {"is in", "is not in"},
}

// shownValues is the maximum number of values that a line names.
const shownValues = 5

// alternatives returns values as in a sentence: "NO", "NO or SE", "NO, SE or DK".
func alternatives(values []string) string {
	var shown []string
	for i, value := range values {
		if i == shownValues {
			shown = append(shown, fmt.Sprintf("%d more", len(values)-shownValues))
			break
		}
		shown = append(shown, strings.TrimSpace(value))
	}
	last := len(shown) - 1
	if last < 1 {
		return strings.Join(shown, "")
	}
	return strings.Join(shown[:last], ", ") + " or " + shown[last]
}

func indented(lines []string) []string {
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}
