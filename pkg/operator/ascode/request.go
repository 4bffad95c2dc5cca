package ascode

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/apiclient"
)

// place is what a change request of a plan is for: the toggles of a project in an environment, or a segment that strategies
// use there.
type place struct {
	project, environment string
	segment              int64 // its id; 0: toggles
}

// places returns what the change requests of a step are for.
func (s Step) places() (all []place) {
	of := place{project: s.Project}
	if a, ok := s.action.(*askSegment); ok {
		of.project, of.segment = a.project, a.id
	}
	for _, of.environment = range s.Protected {
		all = append(all, of)
	}
	return all
}

// Requests returns a sentence about each change request that a step needs.
func (s Step) Requests() (all []string) {
	for _, at := range s.places() {
		text := fmt.Sprintf("Its changes in %s need a change request, which apply makes.", at.environment)
		if at.segment != 0 {
			text = fmt.Sprintf("Its change needs a change request of its own, which apply makes in %s of the project %s.",
				at.environment, at.project)
		}
		all = append(all, text)
	}
	return all
}

// concerns reports whether an open change request is for a place. One for a segment can be in another environment: it asks
// for the approvals of all environments in which strategies use the segment.
func (p place) concerns(r changerequest.Found) bool {
	if p.segment != 0 {
		return slices.Contains(r.Segments, strconv.FormatInt(p.segment, 10))
	}
	return len(r.Features) > 0 && r.Project == p.project && r.Environment == p.environment
}

// asking is a change of a change request.
type asking struct {
	Feature string               `json:"feature,omitempty"` // "": the change is of a segment
	Action  changerequest.Action `json:"action"`
	Payload any                  `json:"payload"`

	// Conflict is why the change of a request that was made is not possible any more.
	Conflict string `json:"conflict,omitempty"`
}

// asking returns the changes of a step in an environment as those of a change request.
func (s Step) asking(environment string) (all []asking) {
	if a, ok := s.action.(*askSegment); ok {
		return []asking{{Action: changerequest.UpdateSegment, Payload: segmentChange{a.id, a.segment}}}
	}
	add := func(action changerequest.Action, payload any) {
		all = append(all, asking{Feature: s.Name, Action: action, Payload: payload})
	}
	isReplaced := slices.ContainsFunc(s.Changes, func(c Change) bool { return c.Type == eventlog.FeatureDependencyAdded })
	for _, c := range s.Changes {
		if s.request(c) != environment {
			continue
		}
		switch c.Type { //nolint:exhaustive // the others need no change request
		case eventlog.FeatureStrategyAdd:
			strategy := maps.Clone(c.Data)
			delete(strategy, "id") // the service chooses another one
			add(changerequest.AddStrategy, strategy)
		case eventlog.FeatureStrategyUpdate:
			add(changerequest.UpdateStrategy, c.Data)
		case eventlog.FeatureStrategyRemove:
			add(changerequest.DeleteStrategy, object{"id": c.PreData["id"]})
		case eventlog.StrategyOrderChanged:
			if order := orderOf(c); len(order) > 0 {
				add(changerequest.ReorderStrategy, order)
			}
		case eventlog.FeatureEnvironmentEnabled:
			add(changerequest.UpdateEnabled, object{"enabled": true})
		case eventlog.FeatureEnvironmentDisabled:
			add(changerequest.UpdateEnabled, object{"enabled": false})
		case eventlog.FeatureDependencyAdded:
			add(changerequest.AddDependency, c.Data)
		case eventlog.FeatureDependencyRemoved:
			if !isReplaced {
				add(changerequest.DeleteDependency, nil)
			}
		case eventlog.FeatureArchived:
			add(changerequest.ArchiveFeature, nil)
		}
	}
	return all
}

// orderOf returns the payload of a change of the order. A strategy that is added has its order itself.
func orderOf(c Change) (order []any) {
	before, _ := c.PreData["strategyIds"].([]any)
	after, _ := c.Data["strategyIds"].([]any)
	for i, id := range after {
		if slices.Contains(before, id) {
			order = append(order, object{"id": id, "sortOrder": i})
		}
	}
	return order
}

// request is a change request in the API.
type request struct {
	ID       int64               `json:"id"`
	State    changerequest.State `json:"state"`
	Segments []asking            `json:"segments"`
	Features []struct {
		Name    string   `json:"name"`
		Changes []asking `json:"changes"`
	} `json:"features"`
}

// changes returns the changes of a request by toggle, those of segments last.
func (r request) changes() (all []asking) {
	for _, f := range r.Features {
		for _, c := range f.Changes {
			c.Feature = f.Name
			all = append(all, c)
		}
	}
	return append(all, r.Segments...)
}

// open returns the change requests that are not closed, of all projects that the token sees.
func (c *Client) open(ctx context.Context) (all []changerequest.Found, err error) {
	query := url.Values{"state": {apiclient.AnyOf(changerequest.OpenStates()...)}}
	found := apiclient.Search[changerequest.Found](ctx, c.api, "changeRequests", query, apiclient.PageSize, "search", "change-requests")
	for one, err := range found {
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// ask makes a change request and sends it to review. If there already is an open one with the same changes, it makes
// none, and sends that if it was not sent. Another open request of the source for the place is canceled. The id of the
// request that it returns is 0 if there is none.
func (c *Client) ask(ctx context.Context, at place, source string, changes []asking) (changerequest.Found, error) {
	asked := changerequest.Found{Project: at.project, Environment: at.environment}
	open, err := c.open(ctx)
	if err != nil {
		return asked, err
	}
	title := titleOf(source)
	for _, found := range open {
		if !at.concerns(found) {
			continue
		}
		var r request
		if err := c.api.Get(ctx, &r, "projects", found.Project, "change-requests", strconv.FormatInt(found.ID, 10)); err != nil {
			return asked, err
		}
		if same(r.changes(), changes) {
			return found, c.send(ctx, found.Project, title, r)
		}
		if found.Title == title {
			if err := c.become(ctx, found.Project, r.ID, changerequest.Canceled); err != nil {
				return found, err
			}
		}
	}
	var made request
	path := []string{"projects", at.project, "environments", at.environment, "change-requests"}
	if _, err := c.api.Call(ctx, http.MethodPost, path, nil, nil, changes, &made); err != nil {
		return asked, err
	}
	asked.ID = made.ID
	if !same(made.changes(), changes) {
		return asked, &apiclient.Error{Message: fmt.Sprintf("The changes were added to your draft %d, which has other changes. "+
			"Send it to review yourself.", made.ID)}
	}
	return asked, c.send(ctx, at.project, title, made)
}

// titleOf returns the title of the change requests of a source.
func titleOf(source string) string {
	const maxTitle = 200
	title := []rune("toggleadmin apply: " + source)
	return string(title[:min(len(title), maxTitle)])
}

// send sends a draft to review. It does nothing with a request that was sent.
func (c *Client) send(ctx context.Context, project, title string, r request) error {
	if r.State != changerequest.Draft {
		return nil
	}
	path := []string{"projects", project, "change-requests", strconv.FormatInt(r.ID, 10), "title"}
	if _, err := c.api.Call(ctx, http.MethodPut, path, nil, nil, object{"title": title}, nil); err != nil {
		return err
	}
	return c.become(ctx, project, r.ID, changerequest.InReview)
}

// cancelRequest is the action of a step that cancels a change request.
type cancelRequest struct {
	project string
	id      int64
}

func (a *cancelRequest) apply(ctx context.Context, c *Client, _ *Step) error {
	return c.become(ctx, a.project, a.id, changerequest.Canceled)
}

// become changes the state of a request.
func (c *Client) become(ctx context.Context, project string, id int64, state changerequest.State) error {
	path := []string{"projects", project, "change-requests", strconv.FormatInt(id, 10), "state"}
	_, err := c.api.Call(ctx, http.MethodPut, path, nil, nil, object{"state": state}, nil)
	return err
}

// same reports whether the JSON forms of changes are equal, in any order of the toggles.
func same(a, b []asking) bool {
	return reflect.DeepEqual(normal(a), normal(b))
}

// normal returns the changes as JSON decodes them, by toggle.
func normal(all []asking) (byToggle map[string][]asking) {
	text, err := json.Marshal(all)
	if err != nil {
		return nil // it was JSON before
	}
	var decoded []asking
	if err := json.Unmarshal(text, &decoded); err != nil {
		return nil
	}
	byToggle = map[string][]asking{}
	for _, c := range decoded {
		byToggle[c.Feature] = append(byToggle[c.Feature], c)
	}
	return byToggle
}
