package environment

import (
	"context"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// listVersion is the version of the schemas of lists; there is only one (api/openapi.yaml).
const listVersion = 1

// Response is environmentSchema in api/openapi.yaml.
type Response struct {
	Name              string `json:"name"`
	Type              string `json:"type"`
	SortOrder         int64  `json:"sortOrder"`
	Enabled           bool   `json:"enabled"`           // true
	Protected         bool   `json:"protected"`         // false
	RequiredApprovals *int64 `json:"requiredApprovals"` // of changes, in each project at least; null: none
}

// Response returns the environment in the form of the API.
func (e Environment) Response() Response {
	return Response{Name: e.Name, Type: e.Type, SortOrder: e.SortOrder, Enabled: true,
		RequiredApprovals: e.requiredApprovals()}
}

// listed is an environment in the list of all.
type listed struct {
	Response
	Freeze             *Freeze `json:"freeze,omitempty"` // in all projects, which has not ended
	ProjectCount       int     `json:"projectCount"`
	APITokenCount      int64   `json:"apiTokenCount"` // of client tokens
	EnabledToggleCount int64   `json:"enabledToggleCount"`
}

// listedOfProject is an environment in the list of a project.
type listedOfProject struct {
	Response
	ProjectAPITokenCount      int64 `json:"projectApiTokenCount"` // of client tokens that may read its toggles
	ProjectEnabledToggleCount int64 `json:"projectEnabledToggleCount"`
	Visible                   bool  `json:"visible"` // whether toggles of the project can be switched in it
}

// list is a list of environments in a response.
type list[T any] struct {
	Version      int `json:"version"`
	Environments []T `json:"environments"`
}

// List serves GET /api/admin/environments.
func List(environments *Store, now func() time.Time) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := environments.List(r.Context())
		if err != nil {
			return err
		}
		projects, err := access.VisibleProjects(r.Context())
		if err != nil {
			return err
		}
		tokens, err := environments.countVisibleTokens(r.Context(), all)
		if err != nil {
			return err
		}
		body := list[listed]{listVersion, make([]listed, len(all))}
		for i, e := range all {
			body.Environments[i] = listed{
				Response:           e.Response(),
				Freeze:             CurrentFreeze(e.Freeze, now()),
				ProjectCount:       countProjects(projects, e.Name),
				APITokenCount:      tokens[e.Name],
				EnabledToggleCount: countToggles(projects, e),
			}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// countVisibleTokens counts the client tokens that the caller sees by environment. It reads them only if the caller does
// not see all projects.
func (s *Store) countVisibleTokens(ctx context.Context, all []Environment) (map[string]int64, error) {
	seesAll, err := access.SeesAll(ctx)
	if err != nil {
		return nil, err
	}
	if seesAll {
		counts := map[string]int64{}
		for _, e := range all {
			counts[e.Name] = e.References.Tokens
		}
		return counts, nil
	}
	visible, err := access.Visibility(ctx)
	if err != nil {
		return nil, err
	}
	return s.countTokens(ctx, func(t clienttokentable.Token) bool {
		return len(t.Projects) == 0 || slices.ContainsFunc(t.Projects, visible)
	})
}

// countProjects returns the number of projects, without archived ones, whose toggles can be switched in an environment.
func countProjects(projects []*access.Project, environment string) (n int) {
	for _, p := range projects {
		if p.ArchivedAt == nil && p.HasEnvironment(environment) {
			n++
		}
	}
	return n
}

// countToggles returns the number of toggles of projects that are on in an environment.
func countToggles(projects []*access.Project, e Environment) (n int64) {
	for _, p := range projects {
		n += e.References.ByProject[p.ID]
	}
	return n
}

// ListOfProject serves GET /api/admin/environments/project/{projectId}.
func ListOfProject(environments *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := access.VisibleProject(r.Context(), r.PathValue("projectId"))
		if err != nil {
			return err
		}
		all, err := environments.List(r.Context())
		if err != nil {
			return err
		}
		tokens, err := environments.countTokens(r.Context(),
			func(t clienttokentable.Token) bool { return t.Includes(p.ID) })
		if err != nil {
			return err
		}
		body := list[listedOfProject]{listVersion, make([]listedOfProject, len(all))}
		for i, e := range all {
			body.Environments[i] = listedOfProject{
				Response:                  e.Response(),
				ProjectAPITokenCount:      tokens[e.Name],
				ProjectEnabledToggleCount: e.References.ByProject[p.ID],
				Visible:                   p.HasEnvironment(e.Name),
			}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// Get serves GET /api/admin/environments/{name}.
func Get(environments *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return NotFound(name)
		}
		e, err := environments.Get(r.Context(), name)
		if err != nil {
			return err
		}
		w.Header().Set("ETag", ETag(e))
		return lambdahttp.WriteJSON(w, http.StatusOK, e.Response())
	}
}

// ETag returns the entity tag of an environment. It changes with everything that update-environment can change.
func ETag(e Environment) string { return lambdahttp.ETag(e.eventData()) }
