package operator

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"

	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
)

// remoteProject is the overview of a project in the API.
type remoteProject struct {
	Project

	Owners []struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"owners"`
	TypeCounts []struct {
		Count int `json:"count"`
	} `json:"featureTypeCounts"`
	Environments []struct {
		Name string `json:"environment"`
	} `json:"environments"`
}

// project returns the project as commands show it. environments are those of the installation.
func (p remoteProject) project(environments int) Project {
	shown := p.Project
	shown.Owners = []string{}
	for _, t := range p.TypeCounts {
		shown.Toggles += t.Count
	}
	for _, o := range p.Owners {
		if name := cmp.Or(o.Name, o.Email); name != "" { // otherwise it is the system
			shown.Owners = append(shown.Owners, name)
		}
	}
	if len(p.Environments) < environments {
		shown.Environments = []string{}
		for _, e := range p.Environments {
			shown.Environments = append(shown.Environments, e.Name)
		}
	}
	return shown
}

// listedProject is a project in a list of the API.
type listedProject struct {
	ID      string `json:"id"`
	Toggles int    `json:"featureCount"`
}

// listProjects returns the projects that the token sees, with archived ones, ordered by id.
func (r *Remote) listProjects(ctx context.Context) ([]listedProject, error) {
	var list struct {
		Projects []listedProject `json:"projects"`
	}
	err := r.get(ctx, url.Values{"archived": {"all"}}, &list, "projects")
	slices.SortFunc(list.Projects, func(a, b listedProject) int { return cmp.Compare(a.ID, b.ID) })
	return list.Projects, err
}

// Projects returns the projects that the token sees, with archived ones, ordered by id.
func (r *Remote) Projects(ctx context.Context) ([]Project, error) {
	listed, err := r.listProjects(ctx)
	if err != nil {
		return nil, err
	}
	environments, err := r.environments(ctx)
	if err != nil {
		return nil, err
	}
	return apiclient.Each(ctx, listed, func(ctx context.Context, p listedProject) (Project, error) {
		var overview remoteProject
		err := r.get(ctx, nil, &overview, "projects", p.ID, "overview")
		return overview.project(len(environments)), err
	})
}

// Project returns a project.
func (r *Remote) Project(ctx context.Context, id string) (Project, error) {
	environments, err := r.environments(ctx)
	if err != nil {
		return Project{}, err
	}
	var overview remoteProject
	err = r.get(ctx, nil, &overview, "projects", id, "overview")
	return overview.project(len(environments)), err
}

// body returns the part of a body that describes the project.
func (c ProjectChange) body() map[string]any {
	body := map[string]any{}
	for name, value := range map[string]*string{"name": c.Name, "defaultStickiness": c.Stickiness} {
		if value != nil {
			body[name] = *value
		}
	}
	if c.Mode != nil {
		body["mode"] = *c.Mode
	}
	if c.Description != nil {
		if body["description"] = *c.Description; *c.Description == "" {
			body["description"] = nil
		}
	}
	if c.Naming != nil {
		if body["featureNaming"] = Naming(*c.Naming); c.Naming.Pattern == "" {
			body["featureNaming"] = nil
		}
	}
	return body
}

// CreateProject creates a project with the environments that change adds, or all. The account of the token is its Owner:
// owners must be empty.
func (r *Remote) CreateProject(ctx context.Context, id string, change ProjectChange, owners Owners) (Project, error) {
	if len(owners.Accounts)+len(owners.Groups) > 0 {
		return Project{}, exitstatus.Errorf(exitstatus.Usage,
			"omit --owner and --owner-group: with --url, the account of the token is the Owner")
	}
	body := change.body()
	body["id"] = id
	if change.Name == nil {
		body["name"] = id
	}
	if len(change.Add) > 0 {
		body["environments"] = change.Add
	}
	if err := r.send(ctx, http.MethodPost, body, nil, "projects"); err != nil {
		return Project{}, err
	}
	return r.Project(ctx, id)
}

// UpdateProject is Operator.UpdateProject.
func (r *Remote) UpdateProject(ctx context.Context, id string, change ProjectChange) (
	p Project, changed bool, err error,
) {
	return r.changeProject(ctx, id, func(before Project) error {
		if body := change.body(); len(body) > 0 {
			if change.Name == nil {
				body["name"] = before.Name
			}
			if err := r.send(ctx, http.MethodPut, body, nil, "projects", id); err != nil {
				return err
			}
		}
		for _, name := range change.Add {
			body := map[string]string{"environment": name}
			if err := r.send(ctx, http.MethodPost, body, nil, "projects", id, "environments"); err != nil {
				return err
			}
		}
		for _, name := range change.Remove {
			if err := r.send(ctx, http.MethodDelete, nil, nil, "projects", id, "environments", name); err != nil {
				return err
			}
		}
		return nil
	})
}

// changeProject changes a project, and reports whether that was a difference.
func (r *Remote) changeProject(ctx context.Context, id string, change func(before Project) error) (
	p Project, changed bool, err error,
) {
	before, err := r.Project(ctx, id)
	if err == nil {
		err = change(before)
	}
	if err != nil {
		return Project{}, false, err
	}
	after, err := r.Project(ctx, id)
	p, before.UpdatedAt = after, after.UpdatedAt
	return p, !reflect.DeepEqual(before, after), err
}

// ArchiveProject is Operator.ArchiveProject.
func (r *Remote) ArchiveProject(ctx context.Context, id string) (p Project, changed bool, err error) {
	return r.changeProject(ctx, id, func(Project) error {
		return r.send(ctx, http.MethodPost, nil, nil, "projects", "archive", id)
	})
}

// ReviveProject is Operator.ReviveProject.
func (r *Remote) ReviveProject(ctx context.Context, id string) (p Project, changed bool, err error) {
	return r.changeProject(ctx, id, func(Project) error {
		return r.send(ctx, http.MethodPost, nil, nil, "projects", "revive", id)
	})
}

// DeleteProject is Operator.DeleteProject.
func (r *Remote) DeleteProject(ctx context.Context, id string) error {
	return r.send(ctx, http.MethodDelete, nil, nil, "projects", id)
}
