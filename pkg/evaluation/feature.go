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

func (f *feature) result(ctx *Context) Result {
	strategy, enabled := f.evaluate(ctx)
	if !enabled {
		return Result{}
	}
	return Result{true, f.variantOf(strategy, ctx)}
}

// evaluate reports whether the toggle is on, and returns the strategy that decided it. The strategy is nil if the toggle
// is off or has none that is not disabled.
func (f *feature) evaluate(ctx *Context) (*strategy, bool) {
	if !f.source.Enabled || !f.dependenciesHold(ctx) {
		return nil, false
	}
	if len(f.strategies) == 0 {
		return nil, true
	}
	for i := range f.strategies {
		if f.strategies[i].holds(ctx) {
			return &f.strategies[i], true
		}
	}
	return nil, false
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
		_, enabled := p.feature.evaluate(ctx)
		return enabled == p.source.Enabled
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
