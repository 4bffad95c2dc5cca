package evaluation

import (
	"slices"

	"toggleadmin/pkg/toggle"
)

// variants are the variants of a strategy or of a toggle.
type variants struct {
	all        []FeatureVariant
	total      uint32 // the sum of the weights
	group      string
	stickiness string
}

// compileStrategyVariants takes the stickiness from the parameter of the strategy. Those of its variants are equal.
func compileStrategyVariants(s *Strategy, feature string) variants {
	v := variants{group: groupOf(s, feature), stickiness: stickinessOf(s)}
	for _, variant := range s.Variants {
		v.add(FeatureVariant{Variant: variant})
	}
	return v
}

// compileFeatureVariants takes the stickiness from the first variant.
func compileFeatureVariants(f *Feature) variants {
	v := variants{group: f.Name, stickiness: toggle.StickinessDefault}
	if len(f.Variants) > 0 && f.Variants[0].Stickiness != "" {
		v.stickiness = f.Variants[0].Stickiness
	}
	for _, variant := range f.Variants {
		v.add(variant)
	}
	return v
}

func (v *variants) add(variant FeatureVariant) {
	v.all = append(v.all, variant)
	v.total += variant.weight()
}

// choose returns the variant of the context. It returns nil if all weights are 0.
func (v *variants) choose(ctx *Context) *toggle.Variant {
	for i := range v.all {
		if v.all[i].isOverridden(ctx) {
			return &v.all[i].Variant
		}
	}
	if v.total == 0 {
		return nil
	}
	number := v.number(ctx)
	var sum uint32
	for i := range v.all {
		sum += v.all[i].weight()
		if sum >= number {
			return &v.all[i].Variant
		}
	}
	return nil
}

// number returns the number of the context, from 1 to the total weight.
func (v *variants) number(ctx *Context) uint32 {
	field := stickyField(ctx, v.stickiness)
	id, ok := ctx.Fields[field]
	if field == "" || !ok {
		return ctx.Random(v.total) + 1
	}
	return hashNumber(v.group, id, variantSeed, v.total)
}

func (v *FeatureVariant) weight() uint32 {
	return uint32(max(v.Weight, 0)) //nolint:gosec // weights are at most 1,000
}

// isOverridden reports whether an override gives the variant to the context.
func (v *FeatureVariant) isOverridden(ctx *Context) bool {
	for _, override := range v.Overrides {
		value, ok := ctx.Fields[override.ContextName]
		if ok && slices.Contains(override.Values, value) {
			return true
		}
	}
	return false
}
