package unleash

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"

	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/platform/access"
)

// foundProject is a project in a list of Unleash. Old versions of Unleash leave out properties.
type foundProject struct {
	ID, Name              string
	Description           *string
	Mode                  access.Mode
	DefaultStickiness     string
	CreatedAt, ArchivedAt *string
}

func (p foundProject) project() transfer.Project {
	noEmptyDescription(&p.Description)
	return transfer.Project{
		ID: p.ID, Name: cmp.Or(p.Name, p.ID), Description: p.Description, Mode: cmp.Or(p.Mode, access.Open),
		DefaultStickiness: cmp.Or(p.DefaultStickiness, "default"), CreatedAt: p.CreatedAt, ArchivedAt: p.ArchivedAt,
		Partial: true,
	}
}

// overview is the part of a project that only its own operation of Unleash has.
type overview struct {
	Environments  *[]struct{ Environment string }
	FeatureNaming *struct{ Pattern, Example, Description *string }
	LinkTemplates []struct {
		Title       *string
		URLTemplate string
	}
}

// addTo adds the overview to a project. all are the environments of Unleash: a project that has them has all, as far as
// Unleash lists them.
func (o overview) addTo(p *transfer.Project, all []transfer.Environment) {
	p.Partial = false
	has := map[string]bool{}
	names := []string{}
	for _, e := range *o.Environments {
		has[e.Environment] = true
		names = append(names, e.Environment)
	}
	if slices.ContainsFunc(all, func(e transfer.Environment) bool { return !has[e.Name] }) {
		p.Environments = names
	}
	if n := o.FeatureNaming; n != nil && n.Pattern != nil && *n.Pattern != "" {
		p.FeatureNaming = &transfer.Naming{Pattern: *n.Pattern}
		if n.Example != nil {
			p.FeatureNaming.Example = *n.Example
		}
		if n.Description != nil {
			p.FeatureNaming.Description = *n.Description
		}
	}
	for _, link := range o.LinkTemplates {
		noEmptyDescription(&link.Title)
		p.LinkTemplates = append(p.LinkTemplates, transfer.Link{Title: link.Title, URLTemplate: link.URLTemplate})
	}
}

// config is how Unleash protects an environment of a project.
type config struct {
	Environment          string
	ChangeRequestEnabled bool
	RequiredApprovals    *int64
}

// overviews completes the projects of a document with their environments, the naming of their toggles, their links and their
// protections. Versions without the operations, and tokens that may not read them, leave them as they are. Whether
// toggles can be turned off without a change request is not in Unleash: they can, as by default here.
func (r *client) overviews(ctx context.Context, d *transfer.Document) error {
	all := slices.Concat(d.Environments, d.Unlisted)
	for i := range d.Projects {
		r.Progress("reading projects", i, len(d.Projects))
		p := &d.Projects[i]
		var found overview
		path := "projects/" + url.PathEscape(p.ID) + "/overview"
		if err := r.optional(ctx, d, "settings of the project "+p.ID, path, &found); err != nil {
			return err
		}
		if found.Environments != nil {
			found.addTo(p, all)
		}
		var configs []config
		path = "projects/" + url.PathEscape(p.ID) + "/change-requests/config"
		if err := r.optional(ctx, d, "protections of the project "+p.ID, path, &configs); err != nil {
			return err
		}
		for _, c := range configs {
			if c.ChangeRequestEnabled {
				p.Protections = append(p.Protections, transfer.Protection{
					Environment: c.Environment, ChangeRequestsEnabled: true, RequiredApprovals: c.RequiredApprovals,
					AllowTurningOff: true,
				})
			}
		}
	}
	return nil
}

// projects returns the projects, archived ones too, or only the one with an id if that is not empty. It returns nil if
// Unleash does not list projects, and without the project with the id: the open-source edition lists the default project
// only, although toggles can have others.
func (r *client) projects(ctx context.Context, id string) ([]transfer.Project, error) {
	var all []transfer.Project
	seen := map[string]bool{}
	for _, query := range []url.Values{nil, {"archived": {"true"}}} { // which old versions ignore
		var list struct{ Projects []foundProject }
		err := r.get(ctx, "api/admin/projects", query, &list)
		if hasStatus(err, http.StatusNotFound, http.StatusOK) { // a wrong path is 404, or 200 and a page
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, p := range list.Projects {
			if !seen[p.ID] && (id == "" || p.ID == id) {
				seen[p.ID] = true
				all = append(all, p.project())
			}
		}
	}
	return all, nil
}
