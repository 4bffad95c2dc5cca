package world

import (
	"fmt"
	"slices"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// visitor is for whom toggles are evaluated: the values of the fields that it has.
type visitor map[string]string

// visitors returns those for whom decisions are compared.
func (w *World) visitors() []visitor {
	all := []visitor{{}}
	for _, value := range []string{"1", "2"} {
		everywhere := visitor{}
		for _, field := range w.fields.names {
			everywhere[field] = value
			all = append(all, visitor{field: value})
		}
		all = append(all, everywhere)
	}
	return all
}

// decision is what a visitor gets of a toggle.
type decision struct {
	on      bool
	variant string // empty: none
}

// stored decides by the toggles and segments in the tables, by the rules of docs/contract.md. It shares no code with the
// service.
type stored struct {
	*World
	environment string
}

// decide returns false if engines disagree about what the visitor gets.
func (s stored) decide(name string, v visitor) (d decision, agreed bool) {
	f := s.feature(name)
	if f == nil || f.Archived || !f.Environments[s.environment].Enabled {
		return decision{}, true
	}
	if allowed, agreed := s.parentAllows(*f, v); !allowed || !agreed {
		return decision{}, agreed
	}
	for _, strategy := range f.Environments[s.environment].Strategies {
		if !strategy.Disabled && s.holds(strategy, v) {
			return decision{true, variantOf(strategy.Variants)}, true
		}
	}
	return decision{}, true
}

// parentAllows reports whether the parent of a toggle is as the toggle demands. Engines disagree where the parent has no
// variant although it has one of those that the toggle names in other cases.
func (s stored) parentAllows(f toggle.Feature, v visitor) (allowed, agreed bool) {
	d := f.Dependency
	if d == nil {
		return true, true
	}
	parent := s.feature(d.Feature)
	if parent == nil || parent.Archived || parent.Dependency != nil {
		return false, true
	}
	got, _ := s.decide(parent.Name, v)
	switch {
	case !d.Enabled || !got.on:
		return d.Enabled == got.on, true
	case len(d.Variants) == 0:
		return true, true
	case got.variant != "":
		return slices.Contains(d.Variants, got.variant), true
	}
	hasOne := slices.ContainsFunc(parent.Environments[s.environment].Strategies, func(strategy toggle.Strategy) bool {
		return !strategy.Disabled && slices.ContainsFunc(strategy.Variants, func(v toggle.Variant) bool {
			return slices.Contains(d.Variants, v.Name)
		})
	})
	return false, !hasOne
}

func (s stored) holds(strategy toggle.Strategy, v visitor) bool {
	if rollout := strategy.Parameters["rollout"]; rollout != "" && rollout != "100" {
		panic("a strategy of the world has the rollout " + rollout)
	}
	for _, c := range strategy.Constraints {
		if !isIn(c.Operator, c.Values, v, c.ContextName) {
			return false
		}
	}
	for _, id := range strategy.Segments {
		states := s.delivery.segments[id]
		if len(states) == 0 || states[len(states)-1].segment == nil {
			return false
		}
		for _, c := range states[len(states)-1].segment.Constraints {
			if !isIn(c.Operator, c.Values, v, c.ContextName) {
				return false
			}
		}
	}
	return true
}

// isIn is the operator IN, which is the only one that actors use.
func isIn(operator toggle.Operator, values []string, v visitor, field string) bool {
	if operator != toggle.OperatorIn {
		panic(fmt.Sprint("a constraint of the world has the operator ", operator))
	}
	value, present := v[field]
	return present && slices.Contains(values, value)
}

// variantOf returns the name of the variant that everybody gets. Actors create no strategies with several.
func variantOf(all []toggle.Variant) string {
	if len(all) > 0 {
		return all[0].Name
	}
	return ""
}

// delivered decides by what applications download, as engines do. Some of them are lenient: where a parent has no
// variant, it has each that a child demands.
type delivered struct {
	features map[string]evaluation.Feature
	segments map[int64]toggle.Segment
	lenient  bool
}

func newDelivered(d snapshot.Document, lenient bool) delivered {
	all := delivered{map[string]evaluation.Feature{}, d.SegmentsByID(), lenient}
	for _, f := range d.Features {
		all.features[f.Name] = f
	}
	return all
}

func (d delivered) decide(name string, v visitor) decision {
	f, exists := d.features[name]
	if !exists || !f.Enabled || !d.parentsAllow(f, v) {
		return decision{}
	}
	for _, strategy := range f.Strategies {
		if !d.holds(strategy, v) {
			continue
		}
		if len(strategy.Variants) > 0 {
			return decision{true, strategy.Variants[0].Name}
		}
		return decision{true, ""}
	}
	return decision{on: len(f.Strategies) == 0}
}

func (d delivered) parentsAllow(f evaluation.Feature, v visitor) bool {
	for _, dependency := range f.Dependencies {
		parent, exists := d.features[dependency.Feature]
		if !exists || len(parent.Dependencies) > 0 {
			return false
		}
		got := d.decide(parent.Name, v)
		if got.on != dependency.Enabled {
			return false
		}
		if !dependency.Enabled || len(dependency.Variants) == 0 || got.variant == "" && d.lenient {
			continue
		}
		if !slices.Contains(dependency.Variants, got.variant) {
			return false
		}
	}
	return true
}

func (d delivered) holds(strategy evaluation.Strategy, v visitor) bool {
	constraints := slices.Clone(strategy.Constraints)
	for _, id := range strategy.Segments {
		segment, exists := d.segments[id]
		if !exists {
			return false
		}
		constraints = append(constraints, segment.Constraints...)
	}
	return !slices.ContainsFunc(constraints, func(c toggle.Constraint) bool {
		return !isIn(c.Operator, c.Values, v, c.ContextName)
	})
}

// checkDecisions checks that each engine decides about a toggle by a snapshot as the tables say.
func (w *World) checkDecisions(environment string, p *published, name, what string) {
	for _, lenient := range []bool{false, true} {
		engine := newDelivered(p.document, lenient)
		for _, v := range w.visitors() {
			want, agreed := stored{w, environment}.decide(name, v)
			if got := engine.decide(name, v); agreed && got != want {
				w.fail("after %s, the snapshot %d of %s gives the visitor %v of the toggle %s %v, but the tables say %v", what,
					p.version, environment, v, name, got, want)
			}
		}
	}
}
