package unleash

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

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
	}
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
