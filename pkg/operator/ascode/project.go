package ascode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
)

// Project is a project in a file. Its JSON form is the body of update-project.
type Project struct {
	document `json:"-" yaml:"-"`

	Kind              Kind           `json:"-"                           yaml:"kind"`
	ID                string         `json:"id"                          yaml:"id"`
	Name              string         `json:"name"                        yaml:"name"`
	Description       *string        `json:"description"                 yaml:"description,omitempty"`
	Mode              access.Mode    `json:"mode,omitempty"              yaml:"mode,omitempty"`
	DefaultStickiness string         `json:"defaultStickiness,omitempty" yaml:"defaultStickiness,omitempty"`
	FeatureNaming     *FeatureNaming `json:"featureNaming"               yaml:"featureNaming,omitempty"`
	LinkTemplates     []LinkTemplate `json:"linkTemplates,omitzero"      yaml:"linkTemplates,omitempty"`

	Environments map[string]Protection `json:"-" yaml:"environments,omitempty"` // nil: they do not change; a new project has all
	Groups       map[string][]string   `json:"-" yaml:"groups,omitempty"`       // the names of their roles; nil: they do not change
}

// FeatureNaming is how the toggles of a project are named.
type FeatureNaming struct {
	Pattern     string `json:"pattern"               yaml:"pattern"`
	Example     string `json:"example,omitempty"     yaml:"example,omitempty"`
	Description string `json:"description,omitempty" yaml:"description,omitempty"`
}

// LinkTemplate is a link of a project.
type LinkTemplate struct {
	Title       *string `json:"title,omitempty" yaml:"title,omitempty"`
	URLTemplate string  `json:"urlTemplate"     yaml:"urlTemplate"`
}

// Ref implements Resource.
func (s *Project) Ref() Ref { return Ref{Kind: KindProject, Name: s.ID} }

func (s *Project) check() error {
	if s.ID == "" {
		return fmt.Errorf("%s: the property id is missing", s.place(""))
	}
	_, err := checkBody(s, project.CreateSchema(), project.Rules()...)
	return errors.Join(err, s.checkEnvironments())
}

// createProject is the body of create-project.
type createProject struct {
	Project

	Environments []string `json:"environments,omitempty"`
}

// storedProject is a project in the API.
type storedProject struct {
	Project

	ArchivedAt *string `json:"archivedAt"`
}

// project reads a project. The tag is empty if there is none.
func (c *Client) project(ctx context.Context, id string) (stored storedProject, etag string, err error) {
	etag, err = c.find(ctx, &stored, "projects", id, "overview")
	stored.Kind = KindProject
	return stored, etag, err
}

func (s *Project) plan(ctx context.Context, p *planner) (Step, error) {
	stored, etag, err := p.client.project(ctx, s.ID)
	if err != nil {
		return Step{}, explain(s, err)
	}
	if stored.ArchivedAt != nil {
		return Step{}, fmt.Errorf("%s: the project %s is archived: revive it first", s.place("id"), s.ID)
	}
	defaults := access.NewProject(s.ID, s.Name)
	next := *s
	next.Mode = cmp.Or(s.Mode, defaults.Mode)
	next.DefaultStickiness = cmp.Or(s.DefaultStickiness, defaults.DefaultStickiness)
	next.LinkTemplates = append([]LinkTemplate{}, s.LinkTemplates...)
	if s.FeatureNaming != nil && *s.FeatureNaming == (FeatureNaming{}) {
		next.FeatureNaming = nil
	}
	e := eventlog.Event{Type: eventlog.ProjectUpdated, Subject: project.Subject(s.ID), Project: s.ID}
	if etag == "" {
		e.Type = eventlog.ProjectCreated
		body := createProject{next, slices.Sorted(maps.Keys(s.Environments))}
		return p.step(s.Ref(), e, nil, next, &send{method: http.MethodPost, path: []string{"projects"}, body: body})
	}
	return p.step(s.Ref(), e, stored.Project, next, &send{http.MethodPut, []string{"projects", s.ID}, etag, next})
}
