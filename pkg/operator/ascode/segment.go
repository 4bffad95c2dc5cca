package ascode

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

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
	constraints := !reflect.DeepEqual(stored.Constraints, next.Constraints)
	a := &updateSegment{send{http.MethodPut, path, etag, s}, s, id, constraints}
	return p.step(s.Ref(), e, stored, next, a)
}

// updateSegment changes a segment directly.
type updateSegment struct {
	send

	segment     *Segment
	id          int64
	constraints bool // they change, so what applications get changes
}

// askForSegments makes steps that change segments ask for a change request if a strategy in a protected environment uses
// the segment.
func (p *planner) askForSegments(ctx context.Context, steps []Step) error {
	for i, s := range steps {
		a, ok := s.action.(*updateSegment)
		if !ok || !a.constraints {
			continue
		}
		at, found, err := p.protectedUse(ctx, a.id)
		if err != nil {
			return err
		}
		if found {
			steps[i].action, steps[i].Protected = &askSegment{*a, at.project}, []string{at.environment}
		}
	}
	return nil
}

// protectedUse returns the first protected environment in which a strategy of a toggle that is not archived uses a segment.
// It knows of projects that the token sees.
func (p *planner) protectedUse(ctx context.Context, id int64) (at place, found bool, err error) {
	var used struct {
		Strategies []segment.Strategy `json:"strategies"`
	}
	if err := p.client.api.Get(ctx, &used, "segments", segmenttable.Name(id), "strategies"); err != nil {
		return place{}, false, err
	}
	slices.SortFunc(used.Strategies, func(a, b segment.Strategy) int {
		return cmp.Or(strings.Compare(a.Project, b.Project), strings.Compare(a.Environment, b.Environment))
	})
	for _, s := range used.Strategies {
		if err := p.readProtected(ctx, s.Project); err != nil {
			return place{}, false, err
		}
		if !slices.Contains(p.protected[s.Project], s.Environment) {
			continue
		}
		if err := p.readToggles(ctx, s.Project); err != nil {
			return place{}, false, err
		}
		if _, active := p.here[s.Feature]; active {
			return place{s.Project, s.Environment, id}, true, nil
		}
	}
	return place{}, false, nil
}

// askSegment changes a segment by a change request of a project. It only checks that the segment is as the plan has seen
// it.
type askSegment struct {
	updateSegment

	project string
}

func (a *askSegment) apply(ctx context.Context, c *Client, _ *Step) error {
	var now segmentState
	etag, err := c.find(ctx, &now, a.path...)
	if err == nil && etag != a.etag {
		err = errChangedByOthers
	}
	return err
}

// segmentChange is the payload of a change of a change request.
type segmentChange struct {
	ID int64 `json:"id"`
	*Segment
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
