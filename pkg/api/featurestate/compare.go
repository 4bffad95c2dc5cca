package featurestate

import (
	"slices"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/toggle"
)

// Comparison reports whether Set would change nothing of a stored toggle that is not archived: it has the state of a body
// already. environments are those of its project. false also means that it is not known, for example because Set refuses
// the body. It is safe for concurrent use.
type Comparison func(stored toggle.Feature, environments []string, body []byte) bool

// NewComparison returns a comparison.
func NewComparison() Comparison {
	var anyTime time.Time // it decides only about dates that differ
	bodies := newReader()
	return func(stored toggle.Feature, environments []string, content []byte) bool {
		sent, err := bodies.set.Decode(content, rules()...)
		if err != nil {
			return false
		}
		body, err := bodies.parts(sent)
		if err != nil {
			return false
		}
		for name := range body.environments {
			if !slices.Contains(environments, name) {
				return false
			}
		}
		s := setter{body: body, newID: func() string { return "" }, record: func(f toggle.Feature) (toggle.Feature, error) {
			return feature.Recorded(f, body.Object, anyTime)
		}}
		next, err := s.change(stored)
		return err == nil && etag(next) == etag(stored)
	}
}
