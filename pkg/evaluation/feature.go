package evaluation

import (
	"slices"

	"toggleadmin/pkg/toggle"
)

// feature is a compiled toggle.
type feature struct {
	source     *Feature
	strategies []strategy
	variants   variants // of the toggle
	parents    []parent
}

// parent is a dependency of a toggle.
type parent struct {
	source  *toggle.Dependency
	feature *feature // nil: it does not exist, has a parent itself, or has none of the variants that are demanded
}

func compileFeature(source *Feature, segments map[int64]*segment) *feature {
	compiled := &feature{source: source, variants: compileFeatureVariants(source)}
	for i := range source.Strategies {
		strategy := compileStrategy(&source.Strategies[i], source.Name, segments)
		compiled.strategies = append(compiled.strategies, strategy)
	}
	return compiled
}

func (e *Engine) parentsOf(f *feature) []parent {
	dependencies := f.source.Dependencies
	parents := make([]parent, len(dependencies))
	for i := range dependencies {
		parents[i].source = &dependencies[i]
		feature := e.features[dependencies[i].Feature]
		if feature != nil && len(feature.source.Dependencies) == 0 && feature.canFulfill(&dependencies[i]) {
			parents[i].feature = feature
		}
	}
	return parents
}

// noVariant is what SDKs call the variant of a toggle without variants. A dependency can name it.
const noVariant = "disabled"

// canFulfill reports whether a parent has one of the variants that a dependency names, if it names some.
func (f *feature) canFulfill(d *toggle.Dependency) bool {
	if !d.Enabled || len(d.Variants) == 0 {
		return true
	}
	return slices.ContainsFunc(d.Variants, func(name string) bool { return name == noVariant || f.hasVariant(name) })
}

// hasVariant reports whether the toggle, or a strategy of it, has a variant.
func (f *feature) hasVariant(name string) bool {
	isNamed := func(v FeatureVariant) bool { return v.Name == name }
	return slices.ContainsFunc(f.variants.all, isNamed) || slices.ContainsFunc(f.strategies, func(s strategy) bool {
		return slices.ContainsFunc(s.variants.all, isNamed)
	})
}

// decision is whether a toggle is on, and what decided that.
type decision struct {
	enabled  bool
	strategy *strategy // the first one that holds; nil: the toggle is off or has none
	excluded bool      // only the rollout of a strategy does not hold
}

func (f *feature) result(ctx *Context) Result {
	d := f.decide(ctx)
	result := Result{Enabled: d.enabled}
	if d.enabled {
		result.Variant = f.variantOf(d.strategy, ctx)
	}
	result.Reason = f.reason(d, result.Variant)
	return result
}

func (f *feature) decide(ctx *Context) decision {
	if !f.source.Enabled || !f.dependenciesHold(ctx) {
		return decision{}
	}
	if len(f.strategies) == 0 {
		return decision{enabled: true}
	}
	excluded := false
	for i := range f.strategies {
		s := &f.strategies[i]
		if !s.targets(ctx) {
			continue
		}
		if s.rule.holds(ctx) {
			return decision{enabled: true, strategy: s}
		}
		excluded = excluded || s.isRollout()
	}
	return decision{excluded: excluded}
}

// reason returns what decided a result with the variant.
func (f *feature) reason(d decision, variant *toggle.Variant) Reason {
	switch {
	case !f.source.Enabled:
		return SwitchedOff
	case d.excluded, d.strategy != nil && (variant != nil || d.strategy.isPartial()):
		return Split
	case d.enabled && len(f.parents) == 0 && (d.strategy == nil || d.strategy.isForAll()):
		return Static
	default:
		return Targeting
	}
}

func (f *feature) dependenciesHold(ctx *Context) bool {
	for i := range f.parents {
		if !f.parents[i].holds(ctx) {
			return false
		}
	}
	return true
}

// holds reports whether the parent is in the state that the dependency demands. Where it has no variant, it is in each.
func (p *parent) holds(ctx *Context) bool {
	if p.feature == nil {
		return false
	}
	if !p.source.Enabled || len(p.source.Variants) == 0 {
		return p.feature.decide(ctx).enabled == p.source.Enabled
	}
	result := p.feature.result(ctx)
	if !result.Enabled {
		return false
	}
	return result.Variant == nil || slices.Contains(p.source.Variants, result.Variant.Name)
}

// variantOf returns the variant of the context: one of those of the strategy that holds, or if it has none, of the
// toggle.
func (f *feature) variantOf(s *strategy, ctx *Context) *toggle.Variant {
	if s != nil && len(s.variants.all) > 0 {
		return s.variants.choose(ctx)
	}
	return f.variants.choose(ctx)
}
