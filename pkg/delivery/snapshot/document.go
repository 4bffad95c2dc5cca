package snapshot

import (
	"cmp"
	"slices"

	"toggleadmin/pkg/toggle"
)

// Document is the state of an environment: all toggles that are not archived, and the segments that their strategies
// use. Its JSON form is a part of the response to GET /api/client/features.
type Document struct {
	Features []Feature `json:"features"` // ordered by name
	Segments []Segment `json:"segments"` // ordered by id
}

// Feature is a toggle in the environment.
type Feature struct {
	Name           string       `json:"name"`
	Type           string       `json:"type"`
	Enabled        bool         `json:"enabled"` // the switch
	Project        string       `json:"project"`
	Stale          bool         `json:"stale"`
	Strategies     []Strategy   `json:"strategies"` // in the order in which they are evaluated
	Variants       []Variant    `json:"variants"`   // empty: variants belong to strategies
	Description    *string      `json:"description"`
	ImpressionData bool         `json:"impressionData"`
	Dependencies   []Dependency `json:"dependencies,omitempty"` // at most one
}

// Strategy is a strategy that is not disabled. It has no id, because old SDKs of Go expect a number there.
type Strategy struct {
	Name        string            `json:"name"`
	Constraints []Constraint      `json:"constraints"`
	Parameters  map[string]string `json:"parameters"`
	Variants    []Variant         `json:"variants"` // never null: engines take the variants of another strategy otherwise
	Segments    []int64           `json:"segments,omitempty"`
}

// Constraint is a condition on a field of the context.
type Constraint struct {
	Values          []string        `json:"values"` // never null: unleash-client of Node fails otherwise
	Value           string          `json:"value,omitempty"`
	Operator        toggle.Operator `json:"operator"`
	ContextName     string          `json:"contextName"`
	Inverted        bool            `json:"inverted"`
	CaseInsensitive bool            `json:"caseInsensitive"`
}

// Variant is a variant of a strategy. The weights of all variants of a strategy add up to toggle.TotalWeight.
type Variant struct {
	Name       string            `json:"name"`
	Weight     int               `json:"weight"`
	Payload    *toggle.Payload   `json:"payload,omitempty"`
	Stickiness string            `json:"stickiness"`
	WeightType toggle.WeightType `json:"weightType"`
}

// Dependency is the condition of a toggle on its parent.
type Dependency struct {
	Feature  string   `json:"feature"`
	Enabled  bool     `json:"enabled"`
	Variants []string `json:"variants,omitempty"`
}

// Segment is a list of constraints that strategies share.
type Segment struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Constraints []Constraint `json:"constraints"`
}

// NewFeature returns the form of a toggle in an environment. Its dependency is as it is stored: Resolve completes it.
func NewFeature(f toggle.Feature, environment string) Feature {
	in := f.Environments[environment]
	feature := Feature{
		Name:           f.Name,
		Type:           f.Type,
		Enabled:        in.Enabled,
		Project:        f.Project,
		Stale:          f.Stale,
		Strategies:     []Strategy{},
		Variants:       []Variant{},
		Description:    f.Description,
		ImpressionData: f.ImpressionData,
	}
	for _, s := range in.Strategies {
		if !s.Disabled {
			feature.Strategies = append(feature.Strategies, newStrategy(s))
		}
	}
	if f.Dependency != nil {
		dependency := Dependency{Feature: f.Dependency.Feature, Enabled: f.Dependency.Enabled}
		if dependency.Enabled {
			dependency.Variants = append([]string(nil), f.Dependency.Variants...)
		}
		feature.Dependencies = []Dependency{dependency}
	}
	return feature
}

func newStrategy(s toggle.Strategy) Strategy {
	strategy := Strategy{
		Name:        s.Name,
		Constraints: newConstraints(s.Constraints),
		Parameters:  s.Parameters,
		Variants:    make([]Variant, len(s.Variants)),
		Segments:    append([]int64(nil), s.Segments...), // nil if there are none, as in a document that was read
	}
	for i, v := range s.Variants {
		strategy.Variants[i] = Variant{v.Name, v.Weight, v.Payload, v.Stickiness, v.WeightType}
	}
	return strategy
}

func newConstraints(all []toggle.Constraint) []Constraint {
	constraints := make([]Constraint, len(all))
	for i, c := range all {
		constraints[i] = Constraint{
			Values:          append([]string{}, c.Values...),
			Value:           c.Value,
			Operator:        c.Operator,
			ContextName:     c.ContextName,
			Inverted:        c.Inverted,
			CaseInsensitive: c.CaseInsensitive,
		}
	}
	return constraints
}

// Resolve leaves out of the dependencies of toggles, which are given by name, the variants that the parents do not have.
// A toggle that depends on variants of which the parent has none is off: engines disagree about an unknown variant of a
// parent without variants, and no list of variants means each of them. Engines evaluate a toggle whose parent is not
// among the toggles as off.
func Resolve(features map[string]Feature) {
	for name, f := range features {
		if resolved, changed := f.resolve(features); changed {
			features[name] = resolved
		}
	}
}

func (f Feature) resolve(all map[string]Feature) (resolved Feature, changed bool) {
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
		if parent.hasVariant(variant) {
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
		f.Dependencies = []Dependency{dependency}
	}
	return f, true
}

// hasVariant reports whether a strategy has a variant.
func (f Feature) hasVariant(name string) bool {
	return slices.ContainsFunc(f.Strategies, func(s Strategy) bool {
		return slices.ContainsFunc(s.Variants, func(v Variant) bool { return v.Name == name })
	})
}

// NewSegment returns the form of a segment.
func NewSegment(s toggle.Segment) Segment {
	return Segment{s.ID, s.Name, newConstraints(s.Constraints)}
}

// NewDocument returns the document of toggles in any order. segments contains at least those that strategies use;
// others are left out.
func NewDocument(features []Feature, segments map[int64]Segment) Document {
	d := Document{Features: append([]Feature{}, features...), Segments: []Segment{}}
	slices.SortFunc(d.Features, func(a, b Feature) int { return cmp.Compare(a.Name, b.Name) })
	for _, id := range d.usedSegments() {
		if s, ok := segments[id]; ok {
			d.Segments = append(d.Segments, s)
		}
	}
	return d
}

// SegmentsOf returns the ids of the segments that the strategies of the toggle use. They can repeat.
func (f Feature) SegmentsOf() []int64 {
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
		ids = append(ids, f.SegmentsOf()...)
	}
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

// SegmentsByID returns the segments by their ids.
func (d Document) SegmentsByID() map[int64]Segment {
	all := map[int64]Segment{}
	for _, s := range d.Segments {
		all[s.ID] = s
	}
	return all
}

// Select returns the document with the toggles that are selected, and the segments that they use.
func (d Document) Select(selects func(Feature) bool) Document {
	var features []Feature
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
	inlined := Document{Features: slices.Clone(d.Features), Segments: []Segment{}}
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
		for _, id := range f.SegmentsOf() {
			total += sizes[id]
		}
	}
	return total
}

// constraintSize is about the size of a constraint without values, in bytes of JSON.
const constraintSize = 120

func sizeOf(c Constraint) int {
	size := constraintSize + len(c.ContextName) + len(c.Value)
	for _, value := range c.Values {
		size += len(value) + len(`"",`)
	}
	return size
}
