package transfer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/toggle"
)

// largeState is the size of the state of a toggle, in bytes of JSON, from which its lists are moved. In the form in which it
// is stored, the state can be larger.
const largeState = feature.MaxState * 9 / 10

// moveLists puts the long lists of toggles that would be too large into segments of their own, one for each different
// list of a toggle. A later import finds them by their names.
func (d *Document) moveLists() {
	last := int64(0)
	for _, s := range d.Segments {
		last = max(last, s.ID)
	}
	d.Segments, d.Features = slices.Clone(d.Segments), slices.Clone(d.Features)
	notes := map[string][]string{}
	maps.Copy(notes, d.Notes)
	d.Notes = notes
	for i, t := range d.Features {
		text, err := json.Marshal(t.Environments)
		if err != nil || len(text) <= largeState {
			continue
		}
		moved := map[string]int64{} // ids of segments by their constraints
		environments := map[string]toggle.Environment{}
		for name, e := range t.Environments {
			e.Strategies = slices.Clone(e.Strategies)
			for j, s := range e.Strategies {
				e.Strategies[j] = d.moveList(t.Name, s, moved, &last)
			}
			environments[name] = e
		}
		d.Features[i].Environments = environments
		if len(moved) > 0 {
			notes[t.Name] = append(slices.Clone(notes[t.Name]), fmt.Sprintf(
				"long lists of its strategies became segments (%d), because it would be too large with them", len(moved)))
		}
	}
}

// moveList returns a strategy of a toggle with segments instead of its long lists, as far as it can have segments.
func (d *Document) moveList(name string, s toggle.Strategy, moved map[string]int64, last *int64) toggle.Strategy {
	constraints := s.Constraints
	s.Constraints, s.Segments = []toggle.Constraint{}, slices.Clone(s.Segments)
	for _, c := range constraints {
		if len(c.Values) <= toggle.MaxConstraintValues || len(s.Segments) >= toggle.MaxStrategySegments {
			s.Constraints = append(s.Constraints, c)
			continue
		}
		key := hashOf(c)
		if moved[key] == 0 {
			*last++
			moved[key] = *last
			d.Segments = append(d.Segments, Segment{
				ID: *last, Name: segmentName(name, len(moved)), Constraints: []toggle.Constraint{c},
			})
		}
		s.Segments = append(s.Segments, moved[key])
	}
	return s
}

// segmentName returns the name of the segment with a list of a toggle.
func segmentName(feature string, n int) string {
	name := fmt.Sprintf("List %d of %s", n, feature)
	if len(name) > toggle.MaxName {
		return fmt.Sprintf("List %d of %s", n, hashOf(feature))
	}
	return name
}
