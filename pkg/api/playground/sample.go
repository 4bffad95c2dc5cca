package playground

import (
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/evaluation"
)

// sampleSize is the number of random users of a sample.
const sampleSize = 1_000

// sample is for how many random users a toggle would be on with its switch on.
type sample struct {
	Users    int            `json:"users"`
	On       int            `json:"on"`
	Variants map[string]int `json:"variants"` // for how many the toggle has each variant
}

func holds(s evaluation.StrategyExplanation) bool           { return s.Holds }
func isUnsatisfied(d evaluation.DependencyExplanation) bool { return !d.Holds }

// newSample evaluates a toggle for users with random ids, which have the other fields of a context.
func newSample(e Engine, name string, of *evaluation.Context) *sample {
	s := &sample{Users: sampleSize, Variants: map[string]int{}}
	for range sampleSize {
		user := *of
		user.Fields = maps.Clone(of.Fields)
		user.Fields["userId"] = fmt.Sprintf("%08x", of.Random(1<<32-1))
		user.Fields["sessionId"] = fmt.Sprintf("%08x", of.Random(1<<32-1))
		explanation := e.engine.Explain(name, &user)
		decisive := slices.IndexFunc(explanation.Strategies, holds)
		if decisive < 0 || slices.ContainsFunc(explanation.Dependencies, isUnsatisfied) {
			continue
		}
		s.On++
		if variant := explanation.Strategies[decisive].Variant; variant != nil {
			s.Variants[variant.Name]++
		}
	}
	return s
}
