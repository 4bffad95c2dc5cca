package ascode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
)

// Protection is how an environment of a project is protected. Its JSON form is the body of
// update-project-change-request-config. What the environment requires in each project holds besides.
type Protection struct {
	ChangeRequestsEnabled bool  `json:"changeRequestsEnabled"       yaml:"changeRequestsEnabled,omitempty"`
	RequiredApprovals     int64 `json:"requiredApprovals,omitempty" yaml:"requiredApprovals,omitempty"`
	AllowTurningOff       *bool `json:"allowTurningOff,omitempty"   yaml:"allowTurningOff,omitempty"` // nil: true
}

// inEffect returns a protection as the API shows it. least is the number of approvals that the environment requires in each
// project.
func (p Protection) inEffect(least int64) Protection {
	p.ChangeRequestsEnabled = p.ChangeRequestsEnabled || least > 0
	p.RequiredApprovals = max(p.RequiredApprovals, least, 1)
	if !p.ChangeRequestsEnabled {
		p.RequiredApprovals = 0
	}
	p.AllowTurningOff = new(p.AllowTurningOff == nil || *p.AllowTurningOff)
	return p
}

// asFile returns a protection in effect as files contain it.
func (p Protection) asFile() Protection {
	if p.AllowTurningOff != nil && *p.AllowTurningOff {
		p.AllowTurningOff = nil
	}
	return p
}

// checkEnvironments returns an error for protections that no project can have.
func (s *Project) checkEnvironments() error {
	schema := project.ConfigSchema()
	if s.Environments != nil && len(s.Environments) == 0 {
		return fmt.Errorf("%s: a project has at least one environment", s.place("environments"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Environments)) {
		protection := s.Environments[name]
		text, err := json.Marshal(protection)
		if err != nil {
			return fmt.Errorf("encode a protection of the %v: %w", s.Ref(), err)
		}
		_, err = schema.Decode(text)
		if invalid, ok := errors.AsType[*apierror.Error](err); ok {
			at := "environments/" + name + "/" + inDocument(invalid.Details[0].Path)
			return fmt.Errorf("%s: %s", s.place(at), invalid.Message)
		}
		if err != nil {
			return err
		}
		if protection.RequiredApprovals > 0 && !protection.ChangeRequestsEnabled {
			return fmt.Errorf("%s: requiredApprovals needs changeRequestsEnabled: true",
				s.place("environments/"+name+"/requiredApprovals"))
		}
	}
	return nil
}

// environments returns how many approvals changes in each environment require in each project, by the names of the
// environments.
func (c *Client) environments(ctx context.Context) (map[string]int64, error) {
	var list struct {
		Environments []struct {
			Name              string `json:"name"`
			RequiredApprovals int64  `json:"requiredApprovals"`
		} `json:"environments"`
	}
	err := c.api.Get(ctx, &list, "environments")
	all := map[string]int64{}
	for _, e := range list.Environments {
		all[e.Name] = e.RequiredApprovals
	}
	return all, err
}

// protections returns the environments of a project and their protections, which are in effect, with their entity tag.
func (c *Client) protections(ctx context.Context, project string) (all map[string]Protection, etag string, err error) {
	var config []struct {
		Environment          string `json:"environment"`
		ChangeRequestEnabled bool   `json:"changeRequestEnabled"`
		RequiredApprovals    int64  `json:"requiredApprovals"`
		AllowTurningOff      bool   `json:"allowTurningOff"`
	}
	header, err := c.api.Call(ctx, http.MethodGet, []string{"projects", project, "change-requests", "config"}, nil, nil, nil, &config)
	all = map[string]Protection{}
	for _, e := range config {
		all[e.Environment] = Protection{e.ChangeRequestEnabled, e.RequiredApprovals, &e.AllowTurningOff}
	}
	return all, header.Get("ETag"), err
}

// storedPlaces is what the API has of a project beside its record, as far as a file describes it. It is empty for a new one.
type storedPlaces struct {
	protections map[string]Protection
	roles       map[string][]int64 // of groups
}

// readPlaces reads what the API has of a project beside its record, as far as the file describes it.
func (s *Project) readPlaces(ctx context.Context, c *Client) (stored storedPlaces, err error) {
	if s.Environments != nil {
		if stored.protections, _, err = c.protections(ctx, s.ID); err != nil {
			return stored, explain(s, err)
		}
	}
	if s.Groups != nil {
		if stored.roles, _, err = c.rolesOfGroups(ctx, s.ID); err != nil {
			return stored, explain(s, err)
		}
	}
	return stored, nil
}

// planEnvironments returns the steps that add environments to a project, those that remove them, and those that change how
// they are protected. now are the environments of the project.
func (s *Project) planEnvironments(p *planner, now map[string]Protection) (
	added, removed, protected []Step, err error,
) {
	if s.Environments == nil {
		return nil, nil, nil, nil
	}
	known, err := p.environments()
	if err != nil {
		return nil, nil, nil, err
	}
	isNew := p.first[s.Ref().key()] == created
	add := func(steps *[]Step, t eventlog.Type, name string, before, after any, a *changeEnvironment) {
		a.project, a.environment = s.ID, name
		e := eventlog.Event{Type: t, Subject: project.Subject(s.ID), Project: s.ID, Environment: name}
		step, stepErr := p.step(s.Ref(), e, before, after, a)
		if err = errors.Join(err, stepErr); len(step.Changes) > 0 {
			*steps = append(*steps, step)
		}
	}
	path := []string{"projects", s.ID, "environments"}
	for _, name := range slices.Sorted(maps.Keys(s.Environments)) {
		least, exists := known[name]
		if !exists {
			return nil, nil, nil, fmt.Errorf("%s: there is no environment with the name %q, and files do not create one",
				s.place("environments/"+name), name)
		}
		seen, has := now[name]
		if !has {
			seen = Protection{}.inEffect(least)
		}
		stored := &seen // when the protection is changed
		if !has && !isNew {
			p.first[Ref{KindEnvironment, name, s.ID}.key()] = created
			stored = &Protection{} // until the environment is added
			add(&added, eventlog.ProjectEnvironmentAdded, name, nil, object{"environment": name},
				&changeEnvironment{send: send{method: http.MethodPost, path: path, body: object{"environment": name}}, result: stored})
		}
		next := s.Environments[name].inEffect(least)
		add(&protected, eventlog.ChangeRequestConfigUpdated, name, seen, next, &changeEnvironment{
			send: send{http.MethodPut, append(slices.Clone(path), name, "change-requests", "config"), "", next}, seen: stored,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, stays := s.Environments[name]; !stays {
			seen := now[name]
			add(&removed, eventlog.ProjectEnvironmentRemoved, name, object{"environment": name}, nil,
				&changeEnvironment{send: send{method: http.MethodDelete, path: append(slices.Clone(path), name)}, seen: &seen})
		}
	}
	return added, removed, protected, err
}

// changeEnvironment is the action of a request about an environment of a project. The environment must be as the plan has
// seen it. The entity tag is that of all environments of the project, so it is read just before, also after other steps.
type changeEnvironment struct {
	send

	project, environment string
	seen                 *Protection // nil: the project does not have the environment
	result               *Protection // gets the protection of an environment that is added; nil: it is not needed
}

func (a *changeEnvironment) apply(ctx context.Context, c *Client, s *Step) error {
	all, etag, err := c.protections(ctx, a.project)
	if err != nil {
		return err
	}
	now, has := all[a.environment]
	if has != (a.seen != nil) || has && !reflect.DeepEqual(now, *a.seen) {
		return errChangedByOthers
	}
	a.etag = etag
	if err := a.send.apply(ctx, c, s); err != nil || a.result == nil {
		return err
	}
	all, _, err = c.protections(ctx, a.project)
	*a.result = all[a.environment]
	return err
}
