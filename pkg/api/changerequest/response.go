package changerequest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Response is changeRequestSchema in api/openapi.yaml.
type Response struct {
	ID              int64             `json:"id"`
	Title           string            `json:"title,omitempty"`
	Project         string            `json:"project"`
	Environment     string            `json:"environment"`
	Environments    []place           `json:"environments,omitempty"` // not in lists
	MinApprovals    *int64            `json:"minApprovals,omitempty"` // not in lists
	Features        []featureChanges  `json:"features"`
	Segments        []segmentChange   `json:"segments"`
	Approvals       []vote            `json:"approvals"`
	Rejections      []vote            `json:"rejections"`
	Comments        []comment         `json:"comments,omitempty"` // not in lists
	CreatedBy       person            `json:"createdBy"`
	CreatedAt       string            `json:"createdAt"`
	StateTimestamps map[string]string `json:"stateTimestamps"`
	State           State             `json:"state"`
	Schedule        *ShownSchedule    `json:"schedule,omitempty"` // of the state Scheduled
}

// ShownSchedule is changeRequestScheduleSchema in api/openapi.yaml.
type ShownSchedule struct {
	ScheduledAt string         `json:"scheduledAt"`
	ScheduledBy person         `json:"scheduledBy"`
	Status      ScheduleStatus `json:"status"`
	Reason      string         `json:"reason,omitempty"`
}

// place is an environment of a project that needs approvals.
type place struct {
	Project           string `json:"project"`
	Environment       string `json:"environment"`
	RequiredApprovals int64  `json:"requiredApprovals"`
}

type featureChanges struct {
	Name     string   `json:"name"`
	Conflict string   `json:"conflict,omitempty"`
	Changes  []change `json:"changes"`
}

type change struct {
	ID        int64           `json:"id"`
	Action    Action          `json:"action"`
	Conflict  string          `json:"conflict,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"`
	CreatedBy person          `json:"createdBy"`
	CreatedAt string          `json:"createdAt"`
}

type segmentChange struct {
	change

	Name string `json:"name"`
}

type person struct {
	ID       int64  `json:"id,omitempty"`
	Username string `json:"username"`
}

type vote struct {
	CreatedBy person `json:"createdBy"`
	CreatedAt string `json:"createdAt"`
	StruckOut bool   `json:"struckOut,omitempty"`
}

type comment struct {
	ID        int64  `json:"id"`
	Text      string `json:"text"`
	CreatedBy person `json:"createdBy"`
	CreatedAt string `json:"createdAt"`
}

// people returns everybody whom requests name.
func people(all []Request) (ids []int64) {
	add := func(p Person) {
		if p.ID != 0 {
			ids = append(ids, p.ID)
		}
	}
	for _, r := range all {
		add(r.CreatedBy)
		for _, c := range r.Changes {
			add(c.CreatedBy)
		}
		for _, v := range slices.Concat(r.Approvals, r.Rejections) {
			add(v.By)
		}
		for _, c := range r.Comments {
			add(c.By)
		}
		if r.Schedule != nil {
			add(r.Schedule.By)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// names are the names of accounts by their ids.
type names map[int64]string

func (n names) person(p Person) person {
	if p.ID == 0 {
		return person{Username: p.Name}
	}
	return person{p.ID, n[p.ID]}
}

func (n names) votes(all []Vote) []vote {
	list := make([]vote, len(all))
	for i, v := range all {
		list[i] = vote{n.person(v.By), datetime.Format(v.At), v.StruckOut}
	}
	return list
}

func (n names) schedule(s *Schedule) *ShownSchedule {
	if s == nil {
		return nil
	}
	return &ShownSchedule{datetime.Format(s.At), n.person(s.By), s.Status, s.Reason}
}

// response returns the response for a request. conflicts are by the ids of changes. segments has the names of segments
// by their ids; those that do not exist are left out.
func (n names) response(r Request, conflicts map[int64]string, segments map[int64]string) Response {
	shown := Response{
		ID:              r.ID,
		Title:           r.Title,
		Project:         r.Project,
		Environment:     r.Environment,
		Features:        []featureChanges{},
		Segments:        []segmentChange{},
		Approvals:       n.votes(r.Approvals),
		Rejections:      n.votes(r.Rejections),
		CreatedBy:       n.person(r.CreatedBy),
		CreatedAt:       datetime.Format(r.CreatedAt),
		StateTimestamps: timestamps(r.Reached),
		State:           r.State,
		Schedule:        n.schedule(r.Schedule),
	}
	for _, c := range r.Changes {
		one := change{c.ID, c.Action, conflicts[c.ID], c.Payload, n.person(c.CreatedBy), datetime.Format(c.CreatedAt)}
		if c.IsOfSegment() {
			shown.Segments = append(shown.Segments, segmentChange{one, segments[c.Segment]})
			continue
		}
		i := slices.IndexFunc(shown.Features, func(f featureChanges) bool { return f.Name == c.Feature })
		if i < 0 {
			i = len(shown.Features)
			shown.Features = append(shown.Features, featureChanges{Name: c.Feature})
		}
		f := &shown.Features[i]
		f.Changes = append(f.Changes, one)
		if f.Conflict == "" {
			f.Conflict = one.Conflict
		}
	}
	return shown
}

func timestamps(reached map[State]time.Time) map[string]string {
	all := map[string]string{}
	for s, at := range reached {
		all[string(s)] = datetime.Format(at)
	}
	return all
}

// etag returns the entity tag of a request. It changes with what people decide about: the changes, the state, and the time
// for which the request is scheduled.
func etag(r Request) string {
	parts := []any{r.State, r.ID}
	if r.Schedule != nil {
		parts = append(parts, datetime.Format(r.Schedule.At))
	}
	for _, c := range r.Changes {
		parts = append(parts, c.ID, c.Feature, c.Action, c.Payload)
	}
	return lambdahttp.ETag(parts)
}

// Response returns the whole response for a request, evaluated on the state of now unless the request is closed.
func (s *Store) Response(ctx context.Context, users *user.Names, r Request) (Response, error) {
	var e evaluation
	var err error
	if r.State.IsFinal() {
		e.world, err = s.world(ctx, r)
	} else {
		e, err = s.evaluate(ctx, r)
	}
	if err != nil {
		return Response{}, err
	}
	segments := map[int64]string{}
	for id, one := range e.segments {
		segments[id] = one.Name
	}
	known, err := users.Of(ctx, people([]Request{r}))
	if err != nil {
		return Response{}, err
	}
	n := names(known)
	full := n.response(r, e.conflicts, segments)
	full.MinApprovals = new(e.needed[r.Place()])
	full.Environments = []place{}
	for _, at := range slices.SortedFunc(maps.Keys(e.needed), comparePlaces) {
		if p := e.projects[at.Project]; p != nil && p.IsVisible(access.PrincipalFrom(ctx)) {
			full.Environments = append(full.Environments, place{at.Project, at.Environment, e.needed[at]})
		}
	}
	full.Comments = []comment{}
	for _, c := range r.Comments {
		full.Comments = append(full.Comments, comment{c.ID, c.Text, n.person(c.By), datetime.Format(c.At)})
	}
	return full, nil
}
