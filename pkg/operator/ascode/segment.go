package ascode

import (
	"context"
	"net/http"

	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
)

// Segment is a segment in a file, which has no id: that of a segment is another one in each installation. Its JSON form
// is the body of create-segment and update-segment.
type Segment struct {
	document `json:"-" yaml:"-"`

	Kind        Kind         `json:"-"           yaml:"kind"`
	Name        string       `json:"name"        yaml:"name"`
	Description *string      `json:"description" yaml:"description,omitempty"`
	Project     *string      `json:"project"     yaml:"project,omitempty"` // nil: every project can use it
	Constraints []Constraint `json:"constraints" yaml:"constraints"`
}

// Ref implements Resource.
func (s *Segment) Ref() Ref {
	r := Ref{Kind: KindSegment, Name: s.Name}
	if s.Project != nil {
		r.Project = *s.Project
	}
	return r
}

func (s *Segment) check() error {
	if s.Constraints == nil {
		s.Constraints = []Constraint{}
	}
	_, err := checkBody(s, segment.CreateSchema(), segment.Rules()...)
	return err
}

// segmentState is what plans compare of a segment.
type segmentState struct {
	Name        string              `json:"name"`
	Description *string             `json:"description"`
	Project     *string             `json:"project"`
	Constraints []toggle.Constraint `json:"constraints"`
}

// state returns the segment as it would be stored: values are trimmed, and each is there once.
func (s *Segment) state() (segmentState, error) {
	body, err := checkBody(s, segment.CreateSchema(), segment.Rules()...)
	var next segment.Segment
	segment.Change(&next, body)
	return segmentState{next.Name, next.Description, next.Project, next.Constraints}, err
}

func (s *Segment) plan(ctx context.Context, p *planner) (Step, error) {
	next, err := s.state()
	if err != nil {
		return Step{}, err
	}
	id, exists := p.segments[s.Ref().key().Name]
	if !exists {
		e := eventlog.Event{Type: eventlog.SegmentCreated, Subject: eventlog.Subject("segment:" + next.Name)}
		return p.step(s.Ref(), e, nil, next, &createSegment{s, p})
	}
	path := []string{"segments", segmenttable.Name(id)}
	var stored segmentState
	etag, err := p.client.find(ctx, &stored, path...)
	if err != nil {
		return Step{}, explain(s, err)
	}
	e := eventlog.Event{Type: eventlog.SegmentUpdated, Subject: segmenttable.Subject(id)}
	return p.step(s.Ref(), e, stored, next, &send{http.MethodPut, path, etag, s})
}

// createSegment creates a segment, which toggles name after that.
type createSegment struct {
	segment *Segment
	planner *planner
}

func (a *createSegment) apply(ctx context.Context, c *Client, _ *Step) error {
	var made struct {
		ID int64 `json:"id"`
	}
	_, err := c.api.Call(ctx, http.MethodPost, []string{"segments"}, nil, nil, a.segment, &made)
	if err == nil {
		a.planner.segments[a.segment.Ref().key().Name] = made.ID
	}
	return err
}

// storedSegment is a segment in the API.
type storedSegment struct {
	Segment

	ID int64 `json:"id"`
}

// segments returns all segments.
func (c *Client) segments(ctx context.Context) ([]storedSegment, error) {
	var list struct {
		Segments []storedSegment `json:"segments"`
	}
	err := c.api.Get(ctx, &list, "segments")
	for i := range list.Segments {
		list.Segments[i].Kind = KindSegment
	}
	return list.Segments, err
}
