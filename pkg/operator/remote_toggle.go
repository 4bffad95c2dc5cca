package operator

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/toggle"
)

// remoteToggle is a whole toggle in the API.
type remoteToggle struct {
	Toggle

	Tags               []toggle.Tag `json:"tags"`
	PotentiallyStaleAt *string      `json:"potentiallyStaleAt"`
	Segments           []string     `json:"segments"`
	Environments       []struct {
		toggle.Environment

		Name string `json:"name"`
	} `json:"environments"`
}

// toggle returns the toggle as commands show it.
func (t remoteToggle) toggle() Toggle {
	shown := t.Toggle
	shown.Tags = []string{}
	for _, tag := range t.Tags {
		shown.Tags = append(shown.Tags, tag.String())
	}
	for _, e := range t.Environments {
		shown.environments = append(shown.environments, e.Name)
		if e.Enabled {
			shown.enabledIn = append(shown.enabledIn, e.Name)
		}
		for _, s := range e.Strategies {
			shown.segments = append(shown.segments, s.Segments...)
		}
	}
	slices.Sort(shown.enabledIn)
	return shown
}

// Toggles returns the toggles that the token sees, ordered by name.
func (r *Remote) Toggles(ctx context.Context) (all []Toggle, err error) {
	projects, err := r.listProjects(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		for _, archived := range []bool{false, true} {
			err := apiclient.Toggles(ctx, r.api, p.ID, archived, func(t remoteToggle) string { return t.Name },
				func(t remoteToggle) error {
					r.projectsOf[t.Name] = t.Project
					all = append(all, t.toggle())
					return nil
				})
			if err != nil {
				return nil, apiclient.Explain(err)
			}
		}
	}
	slices.SortFunc(all, func(a, b Toggle) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// find returns a whole toggle. The API has it below its project.
func (r *Remote) find(ctx context.Context, name string) (t remoteToggle, err error) {
	project, err := r.projectOf(ctx, name)
	if err != nil {
		return t, err
	}
	return t, r.get(ctx, nil, &t, "projects", project, "features", name)
}

// projectOf returns the project of a toggle, which can be archived.
func (r *Remote) projectOf(ctx context.Context, name string) (project string, err error) {
	project = r.projectsOf[name]
	for _, archived := range []string{"IS:false", "IS:true"} {
		if project == "" {
			if project, err = r.search(ctx, name, archived); err != nil {
				return "", err
			}
		}
	}
	if project == "" {
		return "", exitstatus.Errorf(exitstatus.NotFound, "there is no toggle with the name %q", name)
	}
	r.projectsOf[name] = project
	return project, nil
}

// search returns the project of a toggle, or "" if it does not find the toggle.
func (r *Remote) search(ctx context.Context, name, archived string) (project string, err error) {
	query := url.Values{"query": {name}, "archived": {archived}}
	type toggle struct{ Name, Project string }
	for found, err := range apiclient.Search[toggle](ctx, r.api, "features", query, apiclient.PageSize, "search", "features") {
		if err != nil {
			return "", apiclient.Explain(err)
		}
		if found.Name == name {
			return found.Project, nil
		}
	}
	return "", nil
}

// Toggle returns a toggle.
func (r *Remote) Toggle(ctx context.Context, name string) (Toggle, error) {
	t, err := r.find(ctx, name)
	return t.toggle(), err
}

// ToggleDetails is Operator.ToggleDetails.
func (r *Remote) ToggleDetails(ctx context.Context, name string) (ToggleDetails, error) {
	t, err := r.find(ctx, name)
	d := ToggleDetails{t.toggle(), t.PotentiallyStaleAt, []ToggleEnvironment{}, t.Segments}
	for _, e := range t.Environments {
		d.Environments = append(d.Environments, ToggleEnvironment{e.Name, e.Enabled, len(e.Strategies)})
	}
	return d, err
}

// HasStatus is Operator.HasStatus.
func (r *Remote) HasStatus(ctx context.Context, environment string, on bool) (func(Toggle) bool, error) {
	return func(t Toggle) bool {
		return slices.Contains(t.environments, environment) && slices.Contains(t.enabledIn, environment) == on
	}, r.CheckEnvironment(ctx, environment)
}

// UsesSegment is Operator.UsesSegment.
func (r *Remote) UsesSegment(ctx context.Context, name string) (func(Toggle) bool, error) {
	var list struct {
		Segments []struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
		} `json:"segments"`
	}
	if err := r.get(ctx, nil, &list, "segments"); err != nil {
		return nil, err
	}
	for _, s := range list.Segments {
		if s.Name == name {
			return func(t Toggle) bool { return slices.Contains(t.segments, s.ID) }, nil
		}
	}
	return nil, exitstatus.Errorf(exitstatus.NotFound, "there is no segment %q", name)
}

// PutToggle is Operator.PutToggle. The API computes the context fields of a toggle from its strategies.
func (r *Remote) PutToggle(ctx context.Context, name string, change ToggleChange) (
	t Toggle, created, changed bool, err error,
) {
	if change.ContextFields != nil {
		return t, false, false, exitstatus.Errorf(exitstatus.Usage,
			"--context-field and --no-context-fields are not possible with --url: the API has the context fields of the strategies")
	}
	body := change.ownership()
	maps.Copy(body, change.record())
	before, err := r.Toggle(ctx, name)
	switch {
	case exitstatus.Of(err) == exitstatus.NotFound:
		project := toggle.DefaultProject
		assign(&project, change.Project)
		r.projectsOf[name] = project
		body["name"] = name
		err, created = r.send(ctx, http.MethodPost, body, nil, "projects", r.projectsOf[name], "features"), true
	case err != nil:
	default:
		err = r.update(ctx, before, change.Project, body)
	}
	if err != nil {
		return t, false, false, err
	}
	t, err = r.Toggle(ctx, name)
	return t, created, !created && !reflect.DeepEqual(t, before), err
}

// update changes a toggle that exists. project is the one that it is moved to; nil: it is not moved.
func (r *Remote) update(ctx context.Context, before Toggle, project *string, body map[string]any) error {
	if project != nil && *project != before.Project {
		path := []string{"projects", before.Project, "features", before.Name, "changeProject"}
		if err := r.send(ctx, http.MethodPost, map[string]string{"newProjectId": *project}, nil, path...); err != nil {
			return err
		}
		r.projectsOf[before.Name] = *project
	}
	if len(body) == 0 {
		return nil
	}
	return r.send(ctx, http.MethodPut, body, nil, "projects", r.projectsOf[before.Name], "features", before.Name)
}

// record returns the part of a body of update-feature that describes the toggle.
func (c ToggleChange) record() map[string]any {
	body := map[string]any{}
	if c.Type != nil {
		body["type"] = *c.Type
	}
	if c.ImpressionData != nil {
		body["impressionData"] = *c.ImpressionData
	}
	if c.Description != nil {
		if body["description"] = *c.Description; *c.Description == "" {
			body["description"] = nil
		}
	}
	return body
}

// ChangeToggles is Operator.ChangeToggles, with one request for each toggle.
func (r *Remote) ChangeToggles(ctx context.Context, names []string, action Action) (result ToggleChanges, err error) {
	for _, name := range names {
		t, err := r.Toggle(ctx, name)
		if err == nil && !action.Changes(t) {
			result.Unchanged = append(result.Unchanged, name)
			continue
		}
		if err == nil {
			err = r.change(ctx, t, action)
		}
		switch status := exitstatus.Of(err); {
		case err == nil:
			result.Changed = append(result.Changed, name)
		case status == exitstatus.NotFound || status == exitstatus.Rejected:
			result.Failed = append(result.Failed, ToggleFailure{name, err.Error(), err})
		default:
			return result, err
		}
	}
	return result, nil
}

func (r *Remote) change(ctx context.Context, t Toggle, action Action) error {
	switch action {
	case Archive:
		return r.send(ctx, http.MethodDelete, nil, nil, "projects", t.Project, "features", t.Name)
	case Revive:
		return r.send(ctx, http.MethodPost, nil, nil, "archive", "revive", t.Name)
	case MarkStale, UnmarkStale:
	}
	body := map[string]any{"features": []string{t.Name}, "stale": action == MarkStale}
	return r.send(ctx, http.MethodPost, body, nil, "projects", t.Project, "stale")
}

// SwitchToggle is Operator.SwitchToggle.
func (r *Remote) SwitchToggle(ctx context.Context, name, environment string, on bool) (Switch, error) {
	if err := r.CheckEnvironment(ctx, environment); err != nil {
		return Switch{}, err
	}
	t, err := r.Toggle(ctx, name)
	if err != nil {
		return Switch{}, err
	}
	operation := "off"
	if on {
		operation = "on"
	}
	path := []string{"projects", t.Project, "features", name, "environments", environment, operation}
	if err := r.send(ctx, http.MethodPost, nil, nil, path...); err != nil {
		return Switch{}, err
	}
	return Switch{name, environment, on, slices.Contains(t.enabledIn, environment) != on}, nil
}

// DeleteToggle deletes a toggle that is archived.
func (r *Remote) DeleteToggle(ctx context.Context, name string) error {
	return r.send(ctx, http.MethodDelete, nil, nil, "archive", name)
}
