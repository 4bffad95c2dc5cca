package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// Query is what a response contains, as the response repeats it.
type Query struct {
	Projects                 []string `json:"project,omitempty"`    // empty: all
	NamePrefix               string   `json:"namePrefix,omitempty"` // of the toggles
	Tags                     []TagOf  `json:"tag,omitempty"`        // a toggle has one of them; empty: any or none
	Environment              string   `json:"environment"`
	InlineSegmentConstraints bool     `json:"inlineSegmentConstraints"`
}

// TagOf is a tag of toggles in a query: its type and its value. Its JSON form is that of Unleash.
type TagOf [2]string

// NewTagOf returns a tag in a query.
func NewTagOf(tag toggle.Tag) TagOf { return TagOf{tag.Type, tag.Value} }

// Selection is a query with what follows from it: the toggles that a response contains, its form, its tag, and the key
// under which it is kept. It is the only place that interprets a query.
type Selection struct {
	query  Query
	digest string // the SHA-256 of the query in hexadecimal digits
}

// NewSelection returns the selection of a query.
func NewSelection(q Query) Selection { return Selection{q, hash(q)} }

// Query returns the query of the selection.
func (s Selection) Query() Query { return s.query }

// Key identifies the selection. Different queries have different keys.
func (s Selection) Key() string { return s.digest }

// hashLength is the number of hexadecimal digits of the hash of a query in a tag. Who chooses a query can find one with
// the hash of another one.
const hashLength = 8

// Tag returns the tag of the uncompressed response that selects from a snapshot.
func (s Selection) Tag(epoch string, versions Versions) Tag {
	version := versions.Of(s.query.Projects)
	tag := Tag{Query: s.digest[:hashLength], Epoch: epoch, Version: version.Apart}
	if s.query.InlineSegmentConstraints {
		tag.Version = version.Inlined
	}
	if len(s.query.Tags) > 0 {
		tag.Version = max(tag.Version, version.Tagged)
	}
	return tag
}

// IsStored reports whether the response to the query is the body of the snapshot of its environment.
func (s Selection) IsStored() bool { return s.hasAll() && !s.query.InlineSegmentConstraints }

func (s Selection) hasAll() bool {
	return len(s.query.Projects) == 0 && s.query.NamePrefix == "" && len(s.query.Tags) == 0
}

// From returns the selected toggles of a document, and the segments that they use. Segments are not inlined.
func (s Selection) From(d Document) Document {
	if s.hasAll() {
		return d
	}
	return d.Select(func(f evaluation.Feature) bool {
		return (len(s.query.Projects) == 0 || slices.Contains(s.query.Projects, f.Project)) &&
			strings.HasPrefix(f.Name, s.query.NamePrefix) &&
			(len(s.query.Tags) == 0 || slices.ContainsFunc(f.Tags, func(tag toggle.Tag) bool {
				return slices.Contains(s.query.Tags, NewTagOf(tag))
			}))
	})
}

// Response is the response to GET /api/client/features.
type Response struct {
	Version  int                  `json:"version"`
	Features []evaluation.Feature `json:"features"`
	Query    Query                `json:"query"`
	Segments *[]toggle.Segment    `json:"segments,omitempty"` // nil: they are inlined
	Meta     Meta                 `json:"meta"`
}

// Meta describes a response. SDKs do not read it.
type Meta struct {
	RevisionID int64  `json:"revisionId"`
	ETag       string `json:"etag"`
	QueryHash  string `json:"queryHash"`
}

// responseVersion is the version of the form of responses.
const responseVersion = 2

// Response returns the response with what was selected from the document of a snapshot.
func (s Selection) Response(selected Document, epoch string, versions Versions) Response {
	tag := s.Tag(epoch, versions)
	response := Response{
		Version:  responseVersion,
		Query:    s.query,
		Meta:     Meta{RevisionID: tag.Version, ETag: fmt.Sprintf("%q", tag), QueryHash: tag.Query},
		Features: selected.Features,
	}
	if s.query.InlineSegmentConstraints {
		response.Features = selected.Inline().Features
	} else {
		response.Segments = &selected.Segments
	}
	return response
}
