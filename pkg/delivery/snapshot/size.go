package snapshot

import (
	"fmt"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

// Limit is the maximum size of the body of a snapshot, in bytes. It is compressed.
type Limit int

// MaxBody is what is delivered. Lambda returns at most 6 MB, and base64 takes a third more.
const MaxBody Limit = 4_600_000

// Full returns the size from which writes that enlarge the body are rejected. The rest is for those that are carried out
// before the size is known.
func (l Limit) Full() int { return int(l) / 10 * 9 }

// Large returns the size from which an operator is warned.
func (l Limit) Large() int { return int(l) / 10 * 8 }

// SizeIn returns the size of a toggle in the document of an environment, in bytes. It is 0 if the toggle is archived, or
// if f is the zero Feature.
func SizeIn(f toggle.Feature, environment string) (int, error) {
	if f.Archived || f.Name == "" {
		return 0, nil
	}
	text, err := jsonbody.Encode(NewFeature(f, environment))
	if err != nil {
		return 0, fmt.Errorf("measure the toggle %q: %w", f.Name, err)
	}
	return len(text), nil
}

// SizeOfSegment returns the size of a segment in a document, in bytes.
func SizeOfSegment(s toggle.Segment) (int, error) {
	text, err := jsonbody.Encode(NewSegment(s))
	return len(text), err
}

// Withdraw returns the document with what next withdraws: without the toggles that next does not have, and with those off
// that are off in next.
func (d Document) Withdraw(next Document) Document {
	enabled := map[string]bool{}
	for _, f := range next.Features {
		enabled[f.Name] = f.Enabled
	}
	var left []evaluation.Feature
	for _, f := range d.Features {
		if on, exists := enabled[f.Name]; exists {
			f.Enabled = f.Enabled && on
			left = append(left, f)
		}
	}
	return NewDocument(left, d.SegmentsByID())
}
