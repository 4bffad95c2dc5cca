package ascode

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/apiclient"
)

// asking is a change of a change request.
type asking struct {
	Feature string               `json:"feature"`
	Action  changerequest.Action `json:"action"`
	Payload any                  `json:"payload"`
}

// asking returns the changes of a step in an environment as those of a change request.
func (s Step) asking(environment string) (all []asking) {
	add := func(action changerequest.Action, payload any) { all = append(all, asking{s.Name, action, payload}) }
	for _, c := range s.Changes {
		if c.Environment != environment {
			continue
		}
		switch c.Type { //nolint:exhaustive // the others are of no environment
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
	ID          int64               `json:"id"`
	Title       string              `json:"title"`
	Environment string              `json:"environment"`
	State       changerequest.State `json:"state"`
	Features    []struct {
		Name    string   `json:"name"`
		Changes []asking `json:"changes"`
	} `json:"features"`
}

// changes returns the changes of a request by toggle.
func (r request) changes() (all []asking) {
	for _, f := range r.Features {
		for _, c := range f.Changes {
			c.Feature = f.Name
			all = append(all, c)
		}
	}
	return all
}

// ask makes a change request and sends it to review. If there already is an open one with the same changes, it makes
// none, and sends that if it was not sent. Another open request of the source is canceled.
func (c *Client) ask(ctx context.Context, project, environment, source string, changes []asking) (int64, error) {
	var open []request
	if err := c.api.Get(ctx, &open, "projects", project, "change-requests", "pending"); err != nil {
		return 0, err
	}
	title := titleOf(source)
	for _, r := range open {
		if r.Environment != environment {
			continue
		}
		if err := c.api.Get(ctx, &r, "projects", project, "change-requests", strconv.FormatInt(r.ID, 10)); err != nil {
			return 0, err
		}
		if same(r.changes(), changes) {
			return r.ID, c.send(ctx, project, title, r)
		}
		if r.Title == title {
			if err := c.become(ctx, project, r.ID, changerequest.Canceled); err != nil {
				return r.ID, err
			}
		}
	}
	var made request
	path := []string{"projects", project, "environments", environment, "change-requests"}
	if _, err := c.api.Call(ctx, http.MethodPost, path, nil, nil, changes, &made); err != nil {
		return 0, err
	}
	if !same(made.changes(), changes) {
		return made.ID, &apiclient.Error{Message: fmt.Sprintf("The changes were added to your draft %d, which has other changes. "+
			"Send it to review yourself.", made.ID)}
	}
	return made.ID, c.send(ctx, project, title, made)
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
