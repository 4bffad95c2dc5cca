package snapshot

import (
	"cmp"
	"maps"
	"slices"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// Document is the state of an environment that applications get: all toggles that are not archived, ordered by name, and
// the segments that their strategies use, ordered by id. Its JSON form is a part of the response to
// GET /api/client/features. Lists are not null in it: engines take the variants of another strategy otherwise, and
// unleash-client of Node fails without the values of a constraint.
type Document evaluation.Document

// NewFeature returns the form of a toggle in an environment. Its dependency is as it is stored: Resolve completes it.
func NewFeature(f toggle.Feature, environment string) evaluation.Feature {
	in := f.Environments[environment]
	feature := evaluation.Feature{
		Name:           f.Name,
		Type:           f.Type,
		Enabled:        in.Enabled,
		Project:        f.Project,
		Stale:          f.Stale,
		Strategies:     []evaluation.Strategy{},
		Variants:       []evaluation.FeatureVariant{}, // they belong to strategies
		Description:    f.Description,
		ImpressionData: f.ImpressionData,
		Tags:           append([]toggle.Tag(nil), f.Tags...), // nil if there are none
	}
	for _, s := range in.Strategies {
		if !s.Disabled {
			feature.Strategies = append(feature.Strategies, NewStrategy(s))
		}
	}
	if f.Dependency != nil {
		dependency := toggle.Dependency{Feature: f.Dependency.Feature, Enabled: f.Dependency.Enabled}
		if dependency.Enabled {
			dependency.Variants = append([]string(nil), f.Dependency.Variants...) // nil if there are none
		}
		feature.Dependencies = []toggle.Dependency{dependency}
	}
	return feature
}

// NewStrategy returns the form of a strategy.
func NewStrategy(s toggle.Strategy) evaluation.Strategy {
	return evaluation.Strategy{
		Name:        s.Name,
		Constraints: newConstraints(s.Constraints),
		Parameters:  s.Parameters,
		Variants:    append([]toggle.Variant{}, s.Variants...),
		Segments:    append([]int64(nil), s.Segments...), // nil if there are none, as in a document that was read
	}
}

func newConstraints(all []toggle.Constraint) []toggle.Constraint {
	constraints := append([]toggle.Constraint{}, all...)
	for i := range constraints {
		constraints[i].Values = append([]string{}, constraints[i].Values...)
	}
	return constraints
}

// Resolve leaves out of the dependencies of toggles, which are given by name, the variants that the parents do not have.
// A toggle that depends on variants of which the parent has none is off: engines disagree about an unknown variant of a
// parent without variants, and no list of variants means each of them. Engines evaluate a toggle whose parent is not
// among the toggles as off.
func Resolve(features map[string]evaluation.Feature) {
	for name, f := range features {
		if resolved, changed := resolve(f, features); changed {
			features[name] = resolved
		}
	}
}

func resolve(f evaluation.Feature, all map[string]evaluation.Feature) (resolved evaluation.Feature, changed bool) {
	if len(f.Dependencies) == 0 || len(f.Dependencies[0].Variants) == 0 {
		return f, false
	}
	dependency := f.Dependencies[0]
	parent, exists := all[dependency.Feature]
	if !exists {
		return f, false
	}
	var known []string
	for _, variant := range dependency.Variants {
		if hasVariant(parent, variant) {
			known = append(known, variant)
		}
	}
	switch len(known) {
	case len(dependency.Variants):
		return f, false
	case 0:
		f.Enabled = false
	default:
		dependency.Variants = known
		f.Dependencies = []toggle.Dependency{dependency}
	}
	return f, true
}

// hasVariant reports whether a strategy has a variant.
func hasVariant(f evaluation.Feature, name string) bool {
	return slices.ContainsFunc(f.Strategies, func(s evaluation.Strategy) bool {
		return slices.ContainsFunc(s.Variants, func(v toggle.Variant) bool { return v.Name == name })
	})
}

// NewSegment returns the form of a segment.
func NewSegment(s toggle.Segment) toggle.Segment {
	return toggle.Segment{ID: s.ID, Name: s.Name, Constraints: newConstraints(s.Constraints)}
}

// Build returns the document of toggles and segments in an environment. Archived toggles are left out.
func Build(environment string, features []toggle.Feature, segments []toggle.Segment) Document {
	forms := map[string]evaluation.Feature{}
	for _, f := range features {
		if !f.Archived {
			forms[f.Name] = NewFeature(f, environment)
		}
	}
	byID := map[int64]toggle.Segment{}
	for _, s := range segments {
		byID[s.ID] = NewSegment(s)
	}
	Resolve(forms)
	return NewDocument(slices.Collect(maps.Values(forms)), byID)
}

// NewDocument returns the document of toggles in any order. segments contains at least those that strategies use;
// others are left out.
func NewDocument(features []evaluation.Feature, segments map[int64]toggle.Segment) Document {
	d := Document{Features: append([]evaluation.Feature{}, features...), Segments: []toggle.Segment{}}
	slices.SortFunc(d.Features, func(a, b evaluation.Feature) int { return cmp.Compare(a.Name, b.Name) })
	for _, id := range d.usedSegments() {
		if s, ok := segments[id]; ok {
			d.Segments = append(d.Segments, s)
		}
	}
	return d
}

// SegmentsOf returns the ids of the segments that the strategies of a toggle use. They can repeat.
func SegmentsOf(f evaluation.Feature) []int64 {
	var ids []int64
	for _, s := range f.Strategies {
		ids = append(ids, s.Segments...)
	}
	return ids
}

// usedSegments returns the ids of the segments that strategies use, ascending and without duplicates.
func (d Document) usedSegments() []int64 {
	var ids []int64
	for _, f := range d.Features {
		ids = append(ids, SegmentsOf(f)...)
	}
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

// SegmentsByID returns the segments by their ids.
func (d Document) SegmentsByID() map[int64]toggle.Segment {
	all := map[int64]toggle.Segment{}
	for _, s := range d.Segments {
		all[s.ID] = s
	}
	return all
}

// Select returns the document with the toggles that are selected, and the segments that they use.
func (d Document) Select(selects func(evaluation.Feature) bool) Document {
	var features []evaluation.Feature
	for _, f := range d.Features {
		if selects(f) {
			features = append(features, f)
		}
	}
	return NewDocument(features, d.SegmentsByID())
}

// Inline returns the document in the form for SDKs that do not know segments: each strategy has the constraints of its
// segments. Segments is empty.
func (d Document) Inline() Document {
	segments := d.SegmentsByID()
	inlined := Document{Features: slices.Clone(d.Features), Segments: []toggle.Segment{}}
	for i, f := range inlined.Features {
		inlined.Features[i].Strategies = slices.Clone(f.Strategies)
		for j, s := range f.Strategies {
			constraints := slices.Clone(s.Constraints)
			for _, id := range s.Segments {
				constraints = append(constraints, segments[id].Constraints...)
			}
			inlined.Features[i].Strategies[j].Constraints = constraints
			inlined.Features[i].Strategies[j].Segments = nil
		}
	}
	return inlined
}

// InlinedSize returns how many bytes of JSON the constraints of segments have in the form of Inline, apart from escaped
// characters. It takes a fraction of the time of Inline.
func (d Document) InlinedSize() int {
	sizes := map[int64]int{}
	for _, s := range d.Segments {
		for _, c := range s.Constraints {
			sizes[s.ID] += sizeOf(c)
		}
	}
	total := 0
	for _, f := range d.Features {
		for _, id := range SegmentsOf(f) {
			total += sizes[id]
		}
	}
	return total
}

// constraintSize is about the size of a constraint without values, in bytes of JSON.
const constraintSize = 120

func sizeOf(c toggle.Constraint) int {
	size := constraintSize + len(c.ContextName) + len(c.Value)
	for _, value := range c.Values {
		size += len(value) + len(`"",`)
	}
	return size
}
